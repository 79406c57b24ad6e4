#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/cuda/cuda.hpp"

namespace snapdiff::cuda {

/// Segments and blocks of one device at a moment; streams, pools and stacks as in the snapshot.
struct Layout {
  LiveSet live;
  AllocatorState state;            ///< of this device alone, without traces
  std::vector<bool> unattributed;  ///< parallel to the block table: whose stack is not known
  bool exact = false;              ///< nothing changed after the moment: it is the final state
  std::uint64_t odd_blocks = 0;    ///< live blocks outside every segment, or over another one: not in the table
};

/// Works the layout out by undoing what came after the moment. A block that is gone at the end counts
/// with the least size it can have; a gap behind it that the allocator would not have split off is
/// its own. Errors: as live_set(); usage also where the snapshot has no segments.
Result<Layout> layout_at(const Snapshot& snapshot, TraceRef trace, std::uint64_t events);

}  // namespace snapdiff::cuda
