#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/trend/shapes.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::trend {
namespace {

/// A log may hold a value each second. More points than these say nothing more about a shape.
constexpr std::size_t kMostPoints = 512;

/// The known values and where they lie: at their times, or in snapshots. Nothing is made up between them: a counter
/// that is recorded in every tenth snapshot has a tenth of the points.
struct Recorded {
  std::vector<double> values;
  std::vector<double> places;
};

Recorded recorded(const CounterRow& row, const TimeAxis& axis) {
  Recorded out;
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    if (!row.values[i]) continue;
    out.values.push_back(static_cast<double>(*row.values[i]));
    out.places.push_back(axis.even() ? static_cast<double>(i) : axis.places[i]);
  }
  return out;
}

}  // namespace

void judge_counters(CounterReport& report, std::optional<std::int64_t> limit) {
  report.limit = limit;
  SeriesReport series;
  for (const SnapshotRef& snapshot : report.snapshots) {
    series.steps.emplace_back();
    series.steps.back().snapshot = snapshot;
  }
  report.axis = time_axis(series);
  for (CounterRow& row : report.rows) {
    if (row.cumulative) continue;
    Recorded known = recorded(row, report.axis);
    if (known.values.size() < 3) continue;
    if (known.values.size() > kMostPoints) {
      known.values = means_of(known.values, kMostPoints);
      known.places = means_of(known.places, kMostPoints);
    }
    double largest = 0;
    for (const double value : known.values) largest = std::max(largest, std::abs(value));
    const auto half = static_cast<double>(row.half_unit);
    const double rounding = row.unit == "bytes" ? 0 : 1.0 / 12;
    const Points points{known.values,          known.places, {}, {}, {half * half + rounding, 0},
                        kFloorShare * largest, row.unit};
    row.verdict = judge(points);
    // The rule saw known points or stretches of them; a step is from one snapshot to the next.
    const double stretch = (known.places.back() - known.places.front()) / static_cast<double>(known.values.size() - 1);
    row.verdict.slope /= stretch;
    row.verdict.slope_low /= stretch;
    row.verdict.slope_high /= stretch;
    if (!limit || row.unit != "bytes" || row.verdict.word != "GROWING") continue;
    row.forecast = forecast(known.values, known.values, judge(points), static_cast<double>(*limit));
    for (double* steps : {&row.forecast.steps, &row.forecast.soonest, &row.forecast.latest}) *steps *= stretch;
  }
}

}  // namespace snapdiff::trend
