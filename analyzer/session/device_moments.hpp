#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "analyzer/report/report.hpp"
#include "analyzer/session/load.hpp"
#include "snapdiff/device_memory.hpp"
#include "snapdiff/story.hpp"

/// What snapshots of CUDA devices tell by themselves: failed allocations and the fullest moment.
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

/// The fullest moment of a CUDA snapshot's busiest trace, in words, or what one without a trace holds; null where
/// nothing is known of either, or nothing in use.
Result<std::shared_ptr<const PeakStory>> device_peak(const SnapshotRef& ref, const DiffOptions& options);

/// The contents of any other snapshot, in words: of an object graph the containers that keep most. Null where it has no
/// bytes.
Result<std::shared_ptr<const PeakStory>> held_story(const SnapshotRef& ref, const DiffOptions& options);

/// What is in use at the end of the last iteration of that trace; nothing without iterations.
Result<std::optional<MemoryPeak>> device_low(const Snapshot& snapshot);

}  // namespace snapdiff::session
