#pragma once

#include <memory>
#include <optional>

#include "analyzer/session/load.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::session {

/// The fullest moment of a CUDA snapshot's busiest trace, in words, or what one without a trace holds; null where
/// nothing is known of either, or nothing in use.
Result<std::shared_ptr<const PeakStory>> device_peak(const SnapshotRef& ref, const DiffOptions& options);

/// What is in use at the end of the last iteration of that trace; nothing without iterations.
Result<std::optional<MemoryPeak>> device_low(const Snapshot& snapshot);

}  // namespace snapdiff::session
