#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "analyzer/base/large_pages.hpp"

namespace snapdiff::formats {

/// Gives whole large pages at the start of a block back to the system. Their contents are lost. Returns
/// how many bytes of the block are done with. Nothing where the block is short.
inline std::size_t give_back(char* memory, std::size_t size) {
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kHugePage - 1) & ~(kHugePage - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + size) & ~(kHugePage - 1);
  if (begin >= end || ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) != 0) return 0;
  return end - reinterpret_cast<std::uintptr_t>(memory);
}

}  // namespace snapdiff::formats
