#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/trend/resample.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::trend {
namespace {

/// A log may hold a value each second. More points than these say nothing more about a shape.
constexpr std::size_t kMostPoints = 512;

/// The known values, in order. Nothing is made up between them: a counter that is told every tenth snapshot has a
/// tenth of the points.
std::vector<double> known_values(const CounterRow& row) {
  std::vector<double> values;
  for (const std::optional<std::int64_t>& value : row.values) {
    if (value) values.push_back(static_cast<double>(*value));
  }
  return values;
}

/// Means of stretches of equal length; as they are when there are few.
std::vector<double> thinned(std::vector<double> values) {
  if (values.size() <= kMostPoints) return values;
  std::vector<double> means(kMostPoints);
  for (std::size_t m = 0; m < kMostPoints; ++m) {
    const std::size_t begin = m * values.size() / kMostPoints;
    const std::size_t end = (m + 1) * values.size() / kMostPoints;
    for (std::size_t i = begin; i < end; ++i) means[m] += values[i];
    means[m] /= static_cast<double>(end - begin);
  }
  return means;
}

}  // namespace

void judge_counters(CounterReport& report) {
  SeriesReport series;
  for (const SnapshotRef& snapshot : report.snapshots) {
    series.steps.emplace_back();
    series.steps.back().snapshot = snapshot;
  }
  report.axis = time_axis(series);
  for (CounterRow& row : report.rows) {
    const std::vector<double> known = known_values(row);
    if (row.cumulative || known.size() < 3) continue;
    const bool whole = known.size() == report.snapshots.size();
    const Resampler even(whole ? &report.axis : nullptr, known.size());
    const std::span<const double> at_even_times = even.at_even_times(known);
    const std::vector<double> values = thinned(std::vector<double>(at_even_times.begin(), at_even_times.end()));
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    const auto half = static_cast<double>(row.half_unit);
    const double rounding = row.unit == "bytes" ? 0 : 1.0 / 12;
    row.verdict = judge(values, half * half + rounding, kFloorShare * largest, row.unit);
    // The rule saw known points or stretches of them; a step is from one snapshot to the next.
    const double stretch = static_cast<double>(row.last - row.first) / static_cast<double>(values.size() - 1);
    row.verdict.slope /= stretch;
    row.verdict.slope_low /= stretch;
    row.verdict.slope_high /= stretch;
  }
}

}  // namespace snapdiff::trend
