#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "snapdiff/allocator_state.hpp"

namespace snapdiff {

/// A stack in a segment in which it has blocks in use, or freed ones that wait for another stream.
struct SegmentHolder {
  StackId stack{};  ///< as in the block table; 0 where none was recorded
  std::size_t segment = 0;
  bool pending = false;  ///< all of the stack's blocks there only wait for another stream
  bool sole = false;     ///< no other stack has a block there: were it gone, all of the segment could go back
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;   ///< of these blocks, as allocated
  std::int64_t pinned = 0;  ///< share of the segment's pinned bytes
};

/// What of a free block the driver cannot take back while another block of the segment is in use.
/// Of an expandable segment whole free pages (2 MiB, or 20 MiB of the large pool) can go.
inline std::int64_t pinned_bytes(const AllocatorState& state, std::size_t segment, std::size_t block) {
  constexpr std::uint64_t kSmallPage = 2 * 1024 * 1024;
  constexpr std::uint64_t kLargePage = 20 * 1024 * 1024;
  const std::int64_t size = state.blocks.size[block];
  const std::uint8_t flags = state.segments.flags[segment];
  if (size <= 0 || (flags & kSegmentExpandable) == 0) return std::max<std::int64_t>(size, 0);
  const std::uint64_t page = (flags & kSegmentSmall) != 0 ? kSmallPage : kLargePage;
  // Modulo 2^64: a damaged block may lie before its segment.
  const std::uint64_t begin = state.blocks.address[block] - state.segments.address[segment];
  const std::uint64_t first = begin / page + (begin % page != 0 ? 1 : 0);
  const std::uint64_t last = (begin + static_cast<std::uint64_t>(size)) / page;
  if (last <= first) return size;
  const std::uint64_t whole = (last - first) * page;
  return whole <= static_cast<std::uint64_t>(size) ? size - static_cast<std::int64_t>(whole) : size;
}

/// Who holds the segments of devices, by segment, then stack. The driver can take a segment back when
/// no block in it is in use, so its free bytes are pinned by the stacks that have a block there: each
/// the same share; the bytes that do not divide go to the first ones, so that shares add up exactly.
/// Sizes must add up within 64 bits, as importers check.
inline std::vector<SegmentHolder> segment_holders(const AllocatorState& state) {
  std::vector<SegmentHolder> holders;
  std::map<StackId, SegmentHolder> here;
  for (std::size_t s = 0; s < state.segments.size_rows(); ++s) {
    if ((state.segments.flags[s] & kSegmentHost) != 0) continue;
    here.clear();
    std::int64_t free = 0;
    for (std::size_t b = state.segments.block_begin[s]; b < state.segments.block_begin[s + 1]; ++b) {
      if (state.blocks.state[b] == BlockState::inactive) {
        free += pinned_bytes(state, s, b);
        continue;
      }
      SegmentHolder& holder = here[state.blocks.stack[b]];
      const bool pending = state.blocks.state[b] == BlockState::pending;
      holder.pending = pending && (holder.blocks == 0 || holder.pending);
      ++holder.blocks;
      holder.bytes += state.blocks.size[b];
    }
    if (here.empty()) continue;
    const auto count = static_cast<std::int64_t>(here.size());
    std::int64_t left = free % count;
    for (auto& [stack, holder] : here) {
      holder.stack = stack;
      holder.segment = s;
      holder.sole = count == 1;
      holder.pinned = free / count + (left > 0 ? 1 : 0);
      left -= left > 0 ? 1 : 0;
      holders.push_back(holder);
    }
  }
  return holders;
}

}  // namespace snapdiff
