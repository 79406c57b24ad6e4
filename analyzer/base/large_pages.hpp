#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <vector>

#include "analyzer/base/parallel.hpp"

namespace snapdiff {

inline constexpr std::size_t kHugePage = 2 * 1024 * 1024;

/// Asks the system to back a large block, not yet written to, with large pages. Filling 200 MB in
/// pages of 4 KiB costs 0.15 s in page faults alone. Only a hint; nothing fails without it.
inline void prefer_large_pages(const void* memory, std::size_t size) {
  if (size < 2 * kHugePage) return;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kHugePage - 1) & ~(kHugePage - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + size) & ~(kHugePage - 1);
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

/// Has the system back a block that is about to be filled from its start: one call instead of a page fault for each
/// 4 KiB. Only a hint, as above; the contents stay as they are.
inline void fill_soon(const void* memory, std::size_t size) {
  constexpr std::size_t kPage = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory) & ~(kPage - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + size) & ~(kPage - 1);
#ifdef MADV_POPULATE_WRITE
  if (size >= 16 * kPage) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
#endif
}

/// fill_soon() with large pages, on all cores: for a large table page faults cost more than its values.
inline void fill_on_all_cores(const void* memory, std::size_t size) {
  constexpr std::size_t kTogether = 4 * kHugePage;
  if (size < 2 * kTogether) return;
  const char* const begin = static_cast<const char*>(memory);
  prefer_large_pages(begin, size);
  for_each_parallel((size + kTogether - 1) / kTogether, kParallelStacks, [&](std::size_t i) {
    fill_soon(begin + i * kTogether, std::min(kTogether, size - i * kTogether));
  });
}

/// For tables that are read at random places: in pages of 4 KiB each look costs a walk of the page tables too.
template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class Other>
  explicit LargePages(const LargePages<Other>& /*other*/) {}

  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t size = count * sizeof(T);
    if (size < 2 * kHugePage) return static_cast<T*>(::operator new(size));
    auto* const memory = static_cast<T*>(::operator new(size, std::align_val_t(kHugePage)));
    prefer_large_pages(memory, size);
    return memory;
  }
  void deallocate(T* memory, std::size_t count) {
    const std::size_t size = count * sizeof(T);
    if (size < 2 * kHugePage) return ::operator delete(memory);
    ::operator delete(memory, std::align_val_t(kHugePage));
  }
  bool operator==(const LargePages& /*other*/) const { return true; }
};

/// An allocator that leaves new values unwritten: resize_on_all_cores() writes them, std::vector would on one core.
template <class T>
struct UnwrittenPages : LargePages<T> {
  template <class Other>
  struct rebind {
    using other = UnwrittenPages<Other>;
  };
  template <class... From>
  void construct(T* place, From... from) {
    if constexpr (sizeof...(From) > 0) ::new (static_cast<void*>(place)) T{from...};
  }
};

/// A column of a million rows, to be resized by resize_on_all_cores(): its own resize() leaves new values unwritten.
template <class T>
using LargeColumn = std::vector<T, UnwrittenPages<T>>;

/// Appends values to `column` until it has `size` of them.
template <class T, class Allocator>
void resize_on_all_cores(std::vector<T, Allocator>& column, std::size_t size, const T& value = {}) {
  const std::size_t old = column.size();
  column.reserve(size);
  if (size > old) fill_on_all_cores(column.data() + old, (size - old) * sizeof(T));
  column.resize(size, value);
}
template <class T>
void resize_on_all_cores(LargeColumn<T>& column, std::size_t size, const T& value = {}) {
  const std::size_t old = column.size();
  column.reserve(size);
  column.resize(size);
  if (size <= old) return;
  for_each_block(size - old, [&](std::size_t, std::size_t begin, std::size_t end) {
    T* const added = column.data() + old;
    fill_soon(added + begin, (end - begin) * sizeof(T));
    std::fill(added + begin, added + end, value);
  });
}

}  // namespace snapdiff
