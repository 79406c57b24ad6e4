#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/live_blocks.hpp"

namespace snapdiff::cuda {

/// Segments and blocks of one device at a moment; streams, pools and stacks as in the snapshot.
struct Layout {
  LiveSet live;
  AllocatorState state;            ///< of this device alone, without traces
  std::vector<bool> unattributed;  ///< parallel to the block table: whose stack is not known
  bool exact = false;              ///< nothing changed after the moment: it is the final state
  std::uint64_t odd_blocks = 0;    ///< live blocks outside every segment, or over another one: not in the table
};

/// What is free in segments, apart from the host's.
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
