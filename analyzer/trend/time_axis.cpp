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

/// Positions to steps of the mean distance.
std::vector<double> in_steps(const std::vector<double>& positions) {
  const double step = (positions.back() - positions.front()) / static_cast<double>(positions.size() - 1);
  std::vector<double> places;
  places.reserve(positions.size());
  for (const double position : positions) places.push_back((position - positions.front()) / step);
  return places;
}

/// How the distances between positions compare with their median.
///   near      how many are about the median
///   missing   how many are a whole multiple of it
struct Rhythm {
  std::size_t distances = 0;
  std::size_t near = 0;
  std::size_t missing = 0;

  explicit Rhythm(const std::vector<double>& positions) : distances(positions.size() - 1) {
    std::vector<double> found;
    for (std::size_t i = 1; i < positions.size(); ++i) found.push_back(positions[i] - positions[i - 1]);
    std::sort(found.begin(), found.end());
    const double median = found[found.size() / 2];
    for (const double distance : found) {
      near += std::abs(distance - median) <= kUneven * median ? 1U : 0U;
      missing += skips(distance, median) ? 1U : 0U;
    }
  }

  bool even() const { return near == distances; }
  bool gaps() const { return near * 2 >= distances && near + missing == distances; }
};

/// One process, as far as the inputs say: snapshots of one file, or of one pid.
bool one_process(const SnapshotFacts& a, const SnapshotFacts& b) {
  return a.source.name == b.source.name || (a.pid && a.pid == b.pid);
}

/// What the process had done at each snapshot, where the inputs count that: valgrind's tools write instructions or
/// bytes allocated as "time". Null where a snapshot holds none, or where it does not rise from each to the next.
const Counter* progress_of(const SnapshotFacts& facts) {
  const auto counter = std::find_if(facts.counters.begin(), facts.counters.end(),
                                    [](const Counter& each) { return each.name == "time" && each.cumulative; });
  return counter == facts.counters.end() ? nullptr : &*counter;
}

void place_by_progress(const SeriesReport& series, TimeAxis& axis) {
  std::vector<double> positions;
  const Counter* before = nullptr;
  for (std::size_t i = 0; i < series.steps.size(); ++i) {
    const SnapshotFacts& facts = series.steps[i].snapshot.snapshot->facts;
    const Counter* const progress = progress_of(facts);
    if (progress == nullptr) return;
    if (before != nullptr && (progress->unit != before->unit || progress->value <= before->value ||
                              !one_process(facts, series.steps[i - 1].snapshot.snapshot->facts)))
      return;
    positions.push_back(static_cast<double>(progress->value));
    before = progress;
  }
  if (before == nullptr || positions.size() < 2 || Rhythm(positions).even()) return;
  axis.places = in_steps(positions);
  axis.note = "snapshots lie at uneven distances of " + before->unit + ": judged by " + before->unit;
}

}  // namespace

TimeAxis time_axis(const SeriesReport& series) {
  TimeAxis axis;
  std::vector<std::int64_t> times;
  for (const SeriesStep& step : series.steps) {
    const std::optional<std::int64_t>& taken = step.snapshot.snapshot->facts.taken_at_ns;
    if (taken) times.push_back(*taken);
  }
  if (times.empty()) {
    place_by_progress(series, axis);
    return axis;
  }
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
  for (const std::int64_t time : times) {
    // Subtracted as 128 bits: both ends of the range may occur.
    __extension__ const __int128 since = static_cast<__int128>(time) - times.front();
    axis.seconds.push_back(static_cast<double>(since) / 1e9);
  }
  axis.step_seconds = axis.seconds.back() / static_cast<double>(times.size() - 1);
  const Rhythm rhythm(axis.seconds);
  if (rhythm.even()) return axis;
  if (rhythm.gaps()) axis.places = in_steps(axis.seconds);
  axis.note = rhythm.gaps() ? "snapshots are missing in between: judged at the times of those that are there"
                            : "snapshots were taken at uneven times: judged by their order";
  return axis;
}

}  // namespace snapdiff::trend
