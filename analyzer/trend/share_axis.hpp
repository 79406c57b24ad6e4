#pragma once

#include <span>

#include "analyzer/base/shared_axis.hpp"

namespace snapdiff::trend {

/// Places snapshots without a time by their order: evenly between the known times on both sides in their own
/// series; where it has none on a side, the first or the last known time of all series takes its place. Series that
/// lie more than a day apart, and further than the longest of them is long, share no axis.
SharedAxis share_axis(std::span<const TimedSeries> series);

}  // namespace snapdiff::trend
