#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/growth.hpp"

/// The door of the trend room: is a series of values a leak, a step, a warm-up, or noise? README.md
/// beside this file has the rule.
namespace snapdiff::trend {

/// From this many values on a series can be judged GROWING; below, RISING is the most.
inline constexpr std::size_t kJudgedFrom = 8;

/// What one series shows.
///   word        GROWING, RISING, SATURATING, STEP, SHRINKING, NOISY, FLAT, NEW or GONE; "" for fewer
///               than three values
///   reason      why, for people, without a full stop
///   p           odds of the climbing shapes, 0..1; over-confident below kJudgedFrom values
///   slope       least squares, per snapshot, in the values' unit
///   slope_low, slope_high   95 % band; where the series wanders it is centred on the mean step
///               instead of the slope
///   rise        slope times (number of snapshots - 1)
struct Verdict {
  std::string word;
  std::string reason;
  double p = 0;
  double slope = 0;
  double slope_low = 0;
  double slope_high = 0;
  double rise = 0;
};

/// Judges equally spaced values, oldest first.
///
/// @param noise_variance  known variance of each value (sampling); 0 when exact
/// @param floor           smallest range worth judging, in the values' unit; a smaller one is FLAT
/// @param unit            of the values, for the reason: "bytes", "count", "nanoseconds"
/// Threads: any number at once. Tables that depend on the number of values alone are kept per thread.
Verdict judge(std::span<const double> values, double noise_variance, double floor, std::string_view unit = "bytes");

/// A verdict per row of the first -> last view of a series, by its values in the metric's unit; the
/// floor is 0.2 % of the largest snapshot. Empty when the report has no series.
std::vector<Verdict> judge_rows(const GrowthReport& overall);

}  // namespace snapdiff::trend
