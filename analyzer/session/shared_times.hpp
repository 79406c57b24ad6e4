#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/shared_axis.hpp"
#include "analyzer/store/store.hpp"

/// Times for stored snapshots that hold none, from the other series. They are made again each time somebody looks,
/// and never stored: an estimate must not become a fact.
namespace snapdiff::session {

SharedAxis shared_axis(std::span<const store::SeriesInfo> series);

/// One line for each series in which a snapshot holds no time: how many were placed where, or why not. Empty where
/// no series holds a time.
std::vector<std::string> axis_lines(std::span<const store::SeriesInfo> series, const SharedAxis& axis);

/// The value that a snapshot is charted by: bytes in use, else its own default metric; null where it has counters only.
const std::pair<SampleType, std::int64_t>* main_total(const store::SnapshotInfo& info);

/// "~2026-03-01T12:00:00Z".
std::string estimate_text(std::int64_t unix_ns);

/// What the sign before an estimate stands for.
inline constexpr const char* kEstimateNote =
    "~ estimated by the place in the series, evenly between known times; never used to order or judge";

}  // namespace snapdiff::session
