#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/trend/shapes.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::trend {
namespace {

/// A log may hold a value each second. More points than these say nothing more about a shape.
constexpr std::size_t kMostPoints = 512;

}  // namespace

void judge_counters(CounterReport& report, std::optional<std::int64_t> limit) {
  report.limit = limit;
  SeriesReport series;
  for (const SnapshotRef& snapshot : report.snapshots) series.steps.emplace_back().snapshot = snapshot;
  report.axis = time_axis(series);
  for (CounterRow& row : report.rows) {
    if (row.cumulative) continue;
    // The known ones: a counter that is recorded in every tenth snapshot has a tenth of the points.
    std::vector<double> values, places;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (!row.values[i]) continue;
      values.push_back(static_cast<double>(*row.values[i]));
      places.push_back(report.axis.even() ? static_cast<double>(i) : report.axis.places[i]);
    }
    if (values.size() < 3) continue;
    if (values.size() > kMostPoints) {
      values = means_of(values, kMostPoints);
      places = means_of(places, kMostPoints);
    }
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    const auto half = static_cast<double>(row.half_unit);
    const double rounding = row.unit == "bytes" ? 0 : 1.0 / 12;
    const Points points{values, places, {}, {}, {half * half + rounding, 0}, kFloorShare * largest, row.unit};
    row.verdict = judge(points);
    // The rule saw known points or stretches of them; a step is from one snapshot to the next.
    const double stretch = (places.back() - places.front()) / static_cast<double>(values.size() - 1);
    row.verdict.slope /= stretch;
    row.verdict.slope_low /= stretch;
    row.verdict.slope_high /= stretch;
    if (!limit || row.unit != "bytes" || row.verdict.word != "GROWING") continue;
    row.forecast = forecast(values, values, judge(points), static_cast<double>(*limit));
    for (double* steps : {&row.forecast.steps, &row.forecast.soonest, &row.forecast.latest}) *steps *= stretch;
  }
}

}  // namespace snapdiff::trend
