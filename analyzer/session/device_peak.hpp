#pragma once

#include <memory>

#include "analyzer/session/load.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::session {

/// The fullest moment of a CUDA snapshot's busiest trace, in words, or what one without a trace holds; null where
/// nothing is known of either, or nothing in use.
Result<std::shared_ptr<const PeakStory>> device_peak(const SnapshotRef& ref, const DiffOptions& options);

}  // namespace snapdiff::session
