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

/// An event of a segment, with its number.
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

/// Segments and blocks of one device at a moment; streams, pools and stacks as in the snapshot.
struct Layout {
  LiveSet live;
  AllocatorState state;            ///< of this device alone, without traces
  std::vector<bool> unattributed;  ///< parallel to the block table: whose stack is not known
  bool exact = false;              ///< nothing changed after the moment: it is the final state
  std::uint64_t odd_blocks = 0;    ///< live blocks outside every segment, or over another one: not in the table
};

/// The free bytes of segments, apart from the host's.
CachedBytes cached_of(const AllocatorState& layout);

/// Works the layout out by undoing what came after the moment. A block that is gone at the end counts
/// with the least size it can have; a gap after it that the allocator would not have split off is
/// its own. Errors: as live_set(); usage also where the snapshot has no segments.
Result<Layout> layout_at(const Snapshot& snapshot, TraceRef trace, std::uint64_t events);

/// The same from what live_sets() gave for one of its moments: its blocks, and what happened to segments after the
/// first moment. `snapshot` has segments.
Layout layout_of(const Snapshot& snapshot, TraceRef trace, LiveSet live, std::vector<LiveBlock> blocks,
                 std::span<const SegmentEvent> segment_events);

}  // namespace snapdiff::cuda
