#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "snapdiff/counters.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/trend.hpp"

/// The public header of the trend module: is a series of values a leak, a step, a warm-up, or noise? README.md
/// beside this file has the rule.
namespace snapdiff::trend {

/// What is known of the error of each value of a series.
///   variance  independent from value to value (rounding); 0 when exact
///   sample    what one sample stands for, in the values' unit, where survivors keep their samples from snapshot to
///             snapshot (profiles of what is live); 0 when not sampled. README.md, "Sampling"
struct PointError {
  double variance = 0;
  double sample = 0;
};

/// One series, oldest value first, and all that is known of it. Spans are read during the call only.
///   times   of the values: ascending, in any unit. Empty, or not ascending: one step apart. One step of a slope is
///           the mean distance
///   known   parallel to values, 0: no value was recorded here, and what is there is no evidence. Empty: all are
///   counts  of objects, parallel to values. Empty: not recorded. Where the values hide a climb, the counts may show it
///   floor   smallest range worth judging, in the values' unit; what changes by less is minor
///   unit    of the values, for the reason: "bytes", "count", "nanoseconds"
///   metric  what the values are called beside the counts, for the reason; empty: their unit
struct Points {
  std::span<const double> values;
  std::span<const double> times;
  std::span<const std::uint8_t> known;
  std::span<const double> counts;
  PointError error;
  double floor = 0;
  std::string_view unit = "bytes";
  std::string_view metric = {};
};

/// Cost: about 10 us for 100 values past the floor; one pass over the values and no allocation below it.
/// Threads: any number at once. Tables that depend on the times alone are kept per thread.
Verdict judge(const Points& points);

/// Equally spaced exact or rounded values without counts.
inline Verdict judge(std::span<const double> values, double noise_variance, double floor,
                     std::string_view unit = "bytes") {
  return judge(Points{values, {}, {}, {}, {noise_variance, 0}, floor, unit, {}});
}

/// A verdict per row of the first -> last view of a series, by its values in the metric's unit; the
/// floor is kFloorShare of the largest snapshot, or `floor`. A row whose values are not GROWING is, when its counts
/// of objects are (where the report has them). Empty when the report has no series.
/// `axis` uneven: values are judged at their times. Null: the snapshots are evenly spaced.
std::vector<Verdict> judge_rows(const GrowthReport& overall, const TimeAxis* axis = nullptr,
                                std::optional<double> floor = {});

/// The verdict of one row; the caller gives the floor.
Verdict judge_row(const GrowthReport& overall, std::uint32_t row, double floor, const TimeAxis* axis = nullptr);

/// The same of several rows together, whose values at each snapshot are `sums`.
Verdict judge_sum(const GrowthReport& overall, std::span<const std::uint32_t> rows, std::span<const double> sums,
                  double floor, const TimeAxis* axis);

/// Adds the objects of some rows at each snapshot to `counts`.
void add_counts(const GrowthReport& overall, std::span<const std::uint32_t> rows, std::vector<double>& counts);

/// The known error of the totals of a series, and these.
PointError error_of_total(const GrowthReport& report);
std::vector<double> totals_of(const SeriesReport& series);

/// kFloorShare of the largest snapshot, as far as the rows say, and of the totals at both ends.
double floor_of(const GrowthReport& report);

/// Of pairs of a range and a number the `most` with the widest ranges.
void keep_widest(std::vector<std::pair<double, std::uint32_t>>& ranges, std::size_t most);

/// When the total meets the limit: `climbing`, whose verdict it is, continues, and the rest stays as it was in the last
/// half. Growth that bends upwards beyond its error continues to bend. Never where the band holds 0.
Forecast forecast(std::span<const double> climbing, std::span<const double> total, const Verdict& verdict,
                  double limit);

/// Some of many series that are judged one by one rise by chance: the less sure a rise is, the fewer there may be.
/// RISING becomes NOISY where the false discovery rate would be more than a single series has; GROWING stays.
void allow_for_many(std::span<Verdict> verdicts);

inline bool climbs(const Verdict& verdict) { return verdict.word == "GROWING" || verdict.word == "RISING"; }

/// The lives of the process: parts between restarts and collapses of the total. Totals that collapse again and again
/// within a few snapshots (a collector at work) split nothing.
std::vector<Life> lives_of(const SeriesReport& series);

/// The life to judge: the last of kJudgedFrom snapshots; where none is so long, the last of more than two: a process
/// leaves one or two of its end.
Life judged_life(std::span<const Life> lives);

/// Times of the snapshots, from inside the inputs.
TimeAxis time_axis(const SeriesReport& series);

/// Fills the time axis, the verdicts, and with a limit the forecasts of what is GROWING.
void judge_counters(CounterReport& report, std::optional<std::int64_t> limit = {});

/// Makes the view of a part of a series: diff::diff_series() with the caller's options.
using DiffSeries = std::function<Result<SeriesReport>(std::span<const SnapshotRef>)>;

/// Nearly all that a long rise had added is gone, and it rises again: a restart, unless a cache that is emptied at one
/// level may look so. Where it is known to be a leak elsewhere, it is always a restart.
enum class Emptied : std::uint8_t { may_be_a_cache, is_a_restart };

/// The trend of two or more snapshots within one life. Errors: what `diff` returns.
Result<TrendReport> judge_in_life(std::span<const SnapshotRef> snapshots, const DiffSeries& diff,
                                  std::optional<std::int64_t> limit, std::optional<double> floor = {},
                                  Emptied emptied = Emptied::may_be_a_cache);

/// Verdicts and ranks of a series that is to be judged as a whole; story::tell() adds the forecast.
TrendReport analyse(SeriesReport series, std::optional<std::int64_t> limit, std::optional<double> floor = {});

/// Series that were made on purpose. Keeps the rows whose objects grew by at least `loops` between every two snapshots.
/// `report` must hold the objects of all rows (diff_series with an object floor of 0), or be counted in objects itself.
/// A row that grew so but whose total in the metric did not is kept too, at the end.
/// Source: LeakCanary, docs/heap-growth.md. Errors: usage (nothing to count by, loops below 1).
Status find_round_trips(TrendReport& report, std::int64_t loops);

/// Keeps the rows of which the last of three snapshots still holds something that the second added to
/// the first: min(target - baseline, final - baseline). Errors: usage (not three snapshots), limit.
Status find_triple(TrendReport& report);

}  // namespace snapdiff::trend
