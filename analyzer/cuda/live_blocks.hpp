#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/cuda/cuda.hpp"

namespace snapdiff::cuda {

class Roles;

/// One block of a live set; fields as in LiveRow.
///   born   number of the event that allocated it; negative: from before the trace
///   freed  within the trace
struct LiveBlock {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  bool size_known = false;  ///< `bytes` is the allocator's own, else the least that it can be
  std::int64_t requested = 0;
  StackId stack{};
  bool unattributed = false;
  bool pending = false;
  std::uint32_t stream = 0;
  std::uint32_t pool = 0;
  Role role = Role::unknown;
  bool freed = false;
  std::int64_t born = -1;
};

/// What happened to a segment, and the number of the event.
struct SegmentEvent {
  std::uint64_t number = 0;
  TraceEvent event;
};

/// The blocks of which live sets are made, by moment, and what happened to segments after the first moment, oldest
/// first.
struct LiveBlocks {
  std::vector<std::vector<LiveBlock>> blocks;
  std::vector<SegmentEvent> later_segments;
};

/// live_set() of several moments, which ascend, in one pass; `left` (which may be null) fills the rows' left_blocks and
/// left_bytes, `roles` (likewise) their role. Where `blocks` is not null it also gets the single blocks. Memory grows
/// with the moments times what is live at them.
Result<std::vector<LiveSet>> live_sets(const Snapshot& snapshot, TraceRef trace, std::span<const std::uint64_t> moments,
                                       const LeftOver* left, Roles* roles, LiveBlocks* blocks);

}  // namespace snapdiff::cuda
