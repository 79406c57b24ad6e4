#include <algorithm>
#include <cmath>

#include "analyzer/trend/verdict.hpp"

namespace snapdiff::trend {
namespace {

constexpr double kUneven = 0.25;  // of the median distance: dumps "every minute" jitter by less

/// Near twice the median distance or another whole multiple, as where snapshots in between are missing.
bool skips(double distance, double median) {
  const double multiple = distance / median;
  return multiple >= 2 - kUneven && std::abs(multiple - std::round(multiple)) <= kUneven;
}

}  // namespace

TimeAxis time_axis(const SeriesReport& series) {
  TimeAxis axis;
  std::vector<std::int64_t> times;
  for (const SeriesStep& step : series.steps) {
    const std::optional<std::int64_t>& taken = step.snapshot.snapshot->facts.taken_at_ns;
    if (taken) times.push_back(*taken);
  }
  if (times.empty()) return axis;
  if (times.size() < series.steps.size()) {
    axis.note = std::to_string(series.steps.size() - times.size()) + " of " + std::to_string(series.steps.size()) +
                " snapshots hold no time: steps are counted, not timed";
    return axis;
  }
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] > times[i - 1]) continue;
    axis.note = std::string(times[i] == times[i - 1] ? "two snapshots have one time" : "times run backwards") +
                " at snapshot " + std::to_string(i + 1) + ": steps are counted, not timed";
    return axis;
  }
  if (times.size() < 2) return axis;
  std::vector<double> distances;
  for (std::size_t i = 0; i < times.size(); ++i) {
    // Subtracted as 128 bits: both ends of the range may occur.
    __extension__ const __int128 since = static_cast<__int128>(times[i]) - times.front();
    axis.seconds.push_back(static_cast<double>(since) / 1e9);
    if (i > 0) distances.push_back(axis.seconds[i] - axis.seconds[i - 1]);
  }
  axis.step_seconds = axis.seconds.back() / static_cast<double>(distances.size());
  std::vector<double> sorted = distances;
  std::sort(sorted.begin(), sorted.end());
  const double median = sorted[sorted.size() / 2];
  std::size_t near = 0, missing = 0;
  for (const double distance : distances) {
    near += std::abs(distance - median) <= kUneven * median ? 1U : 0U;
    missing += skips(distance, median) ? 1U : 0U;
  }
  if (near == distances.size()) return axis;
  if (near * 2 >= distances.size() && near + missing == distances.size()) {
    axis.even = false;
    axis.note = "snapshots are missing in between: judged at the times of those that are there";
  } else {
    axis.note = "snapshots were taken at uneven times: judged by their order, growth an hour is an average";
  }
  return axis;
}

}  // namespace snapdiff::trend
