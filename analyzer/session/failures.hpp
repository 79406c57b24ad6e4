#pragma once

#include <memory>
#include <vector>

#include "analyzer/report/report.hpp"
#include "analyzer/session/load.hpp"
#include "snapdiff/device_memory.hpp"

namespace snapdiff::session {

/// A failed allocation and what was live just before.
struct TracedFailure {
  OutOfMemory failure;
  TopReport live;
};

/// The last failed allocation of each device of a snapshot, if any; none where it has no traces.
Result<std::vector<TracedFailure>> failures_of(const LoadedSnapshot& loaded, const DiffOptions& options);

/// The last failed allocation of all devices of a snapshot; null where none failed.
Result<std::shared_ptr<const OutOfMemory>> last_failure(const Snapshot& snapshot);

/// What is above a table of one snapshot: the moment's failed allocation, and for a person the last one that its
/// traces hold (in JSON it would say that this is the moment of it); the peak of its trace.
Result<report::AboveTop> above_top(const LoadedSnapshot& loaded, const DiffOptions& options, report::Form form);

}  // namespace snapdiff::session
