#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/cuda/cuda.hpp"

namespace snapdiff::cuda {

/// One block of a live set; fields as in LiveRow.
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
};

/// The blocks behind a live set, and what happened to segments after its moment, oldest first.
struct LiveBlocks {
  std::vector<LiveBlock> blocks;
  std::vector<TraceEvent> later_segments;
};

/// live_set() that also gives the single blocks, where `blocks` is not null.
Result<LiveSet> live_set(const Snapshot& snapshot, TraceRef trace, std::uint64_t events, LiveBlocks* blocks);

}  // namespace snapdiff::cuda
