#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/counters.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/trend.hpp"

/// The door of the trend room: is a series of values a leak, a step, a warm-up, or noise? README.md
/// beside this file has the rule.
namespace snapdiff::trend {

using snapdiff::kFloorShare;
using snapdiff::kJudgedFrom;
using snapdiff::Verdict;

/// Judges equally spaced values, oldest first.
///
/// @param noise_variance  known variance of each value (sampling); 0 when exact
/// @param floor           smallest range worth judging, in the values' unit; a smaller one is FLAT
/// @param unit            of the values, for the reason: "bytes", "count", "nanoseconds"
/// Threads: any number at once. Tables that depend on the number of values alone are kept per thread.
Verdict judge(std::span<const double> values, double noise_variance, double floor, std::string_view unit = "bytes");

/// A verdict per row of the first -> last view of a series, by its values in the metric's unit; the
/// floor is kFloorShare of the largest snapshot, or `floor`. A row whose values are not GROWING is, when its counts
/// of objects are (where the report has them). Empty when the report has no series.
/// `axis` uneven: values are taken at even times. Null: the snapshots are evenly spaced.
std::vector<Verdict> judge_rows(const GrowthReport& overall, const TimeAxis* axis = nullptr,
                                std::optional<double> floor = {});

/// The first snapshot of the part to judge: the one after the last restart; 0 without one. Totals that
/// collapse again and again (a collector at work) are no restarts.
std::size_t judged_from(const SeriesReport& series);

/// Times of the snapshots, from inside the inputs.
TimeAxis time_axis(const SeriesReport& series);

/// Fills the time axis and the verdicts.
void judge_counters(CounterReport& report);

/// Makes the view of a part of a series: diff::diff_series() with the caller's options.
using DiffSeries = std::function<Result<SeriesReport>(std::span<const SnapshotRef>)>;

/// The trend of two or more snapshots since the last restart. Errors: what `diff` returns.
Result<TrendReport> judge_since_restart(std::span<const SnapshotRef> snapshots, const DiffSeries& diff,
                                        std::optional<std::int64_t> limit, std::optional<double> floor = {});

/// Verdicts, ranks and the forecast of a series that is to be judged as a whole.
TrendReport analyse(SeriesReport series, std::optional<std::int64_t> limit, std::optional<double> floor = {});

}  // namespace snapdiff::trend
