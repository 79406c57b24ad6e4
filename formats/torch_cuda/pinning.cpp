#include "formats/torch_cuda/pinning.hpp"

#include <algorithm>
#include <map>

namespace snapdiff::formats::torch_cuda {
namespace {

constexpr std::uint64_t kSmallPage = 2 * 1024 * 1024;
constexpr std::uint64_t kLargePage = 20 * 1024 * 1024;

/// What of a free block stays with the segment when the allocator gives back all it can.
std::int64_t kept(const AllocatorState& state, std::size_t segment, std::size_t block) {
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

}  // namespace

std::vector<PinnedShare> pinned_shares(const AllocatorState& state) {
  std::vector<PinnedShare> shares;
  std::map<StackId, bool> here;  // whether all of the stack's blocks are pending
  for (std::size_t s = 0; s < state.segments.size_rows(); ++s) {
    if ((state.segments.flags[s] & kSegmentHost) != 0) continue;
    here.clear();
    std::int64_t free = 0;
    for (std::size_t b = state.segments.block_begin[s]; b < state.segments.block_begin[s + 1]; ++b) {
      if (state.blocks.state[b] == BlockState::inactive) {
        // Sums that do not fit were refused before.
        free += kept(state, s, b);
        continue;
      }
      const bool pending = state.blocks.state[b] == BlockState::pending;
      const auto [entry, added] = here.try_emplace(state.blocks.stack[b], pending);
      if (!added) entry->second = entry->second && pending;
    }
    if (here.empty() || free == 0) continue;
    const auto holders = static_cast<std::int64_t>(here.size());
    std::int64_t left = free % holders;
    for (const auto& [stack, pending] : here) {
      const std::int64_t bytes = free / holders + (left > 0 ? 1 : 0);
      left -= left > 0 ? 1 : 0;
      if (bytes > 0) shares.push_back({stack, s, pending, bytes});
    }
  }
  return shares;
}

}  // namespace snapdiff::formats::torch_cuda
