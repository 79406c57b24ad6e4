#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/base/row_values.hpp"
#include "snapdiff/postmortem.hpp"

/// What a report's integers say about one path or row over the series; no words here.
namespace snapdiff::postmortem {

/// Enough snapshots to judge.
inline bool is_judged(const Postmortem& report) { return report.trend.series.steps.size() >= kJudgedFrom; }
/// Stacks were compared at all: false for inputs that hold counters alone.
inline bool has_stacks(const Postmortem& report) { return !report.growth().metric.empty(); }
/// Rows are types or size classes, one frame each: nothing was allocated "through" them.
bool has_bare_rows(const GrowthReport& report);

/// Values of rows together, modulo 2^64: one per judged snapshot; the two ends where there is no series.
std::vector<std::int64_t> values_of(const GrowthReport& report, const std::vector<std::uint32_t>& rows);
/// Counts of objects over the rows; empty where one of them has none.
std::vector<std::int64_t> objects_of(const GrowthReport& report, const std::vector<std::uint32_t>& rows);

/// A frame of a caching allocator or of what calls it for everybody: where all memory goes through, none is explained.
bool is_machinery(const FrameView& frame);
/// The frame that a path (root side first) is called by: the last one that is no machinery; null without frames.
const FrameView* telling_frame(const std::vector<FrameView>& path);
/// Where in a stack (leaf first) its telling part begins.
std::size_t telling_begin(const std::vector<FrameView>& frames);
/// The last frame of a path that is a line of Python; null where there is none.
const FrameView* python_frame(const std::vector<FrameView>& path);
/// Verdict of a row, where the series is long enough to have one.
const Verdict* verdict_of(const Postmortem& report, std::uint32_t row);

/// How a series of values rose.
struct Rise {
  std::size_t since = 0;  ///< first of the snapshots from which on all are above the first one; 0: the last is not
  std::size_t rises = 0;  ///< steps upwards
  std::size_t steps = 0;
  std::size_t largest = 0;  ///< the snapshot after the largest step upwards; 0: none
  std::int64_t largest_step = 0;
};
Rise rise_of(const std::vector<std::int64_t>& values);

}  // namespace snapdiff::postmortem
