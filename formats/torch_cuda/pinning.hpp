#pragma once

#include <cstdint>
#include <vector>

#include "snapdiff/allocator_state.hpp"

namespace snapdiff::formats::torch_cuda {

/// A stack's share of the free bytes that its blocks keep in a segment of a device.
struct PinnedShare {
  StackId stack{};  ///< as in the block table; 0 where none was recorded
  std::size_t segment = 0;
  bool pending = false;  ///< all of the stack's blocks there only wait for another stream
  std::int64_t bytes = 0;
};

/// The driver can take a segment back when no block in it is in use. Its free bytes are therefore pinned
/// by the stacks that have a block there, each the same share; the bytes that do not divide go to the
/// first ones, so that shares add up exactly. Of an expandable segment whole free pages (2 MiB, or
/// 20 MiB of the large pool) can be taken back, and are not pinned.
std::vector<PinnedShare> pinned_shares(const AllocatorState& state);

}  // namespace snapdiff::formats::torch_cuda
