#include "formats/input/large_memory.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace snapdiff::formats {

void prefer_large_pages(const void* memory, std::size_t size) {
  constexpr std::size_t kLargePage = 2 * 1024 * 1024;
  if (size < 2 * kLargePage) return;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kLargePage - 1) & ~(kLargePage - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + size) & ~(kLargePage - 1);
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace snapdiff::formats
