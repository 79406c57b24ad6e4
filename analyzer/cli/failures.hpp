#pragma once

#include <vector>

#include "analyzer/cli/load.hpp"
#include "snapdiff/device_memory.hpp"

namespace snapdiff::cli {

/// A failed allocation and what was live just before.
struct TracedFailure {
  OutOfMemory failure;
  TopReport live;
};

/// The last failed allocation of each device of a snapshot, if any; none where it has no traces.
Result<std::vector<TracedFailure>> failures_of(const LoadedSnapshot& loaded, const DiffOptions& options);

}  // namespace snapdiff::cli
