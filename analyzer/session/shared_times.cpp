#include "analyzer/session/shared_times.hpp"

#include <algorithm>
#include <span>

#include "analyzer/base/default_metric.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/session/facts_text.hpp"
#include "analyzer/trend/share_axis.hpp"

namespace snapdiff::session {
namespace {

/// As a diff sees it: a total that falls so low, but not again and again as under a collector.
constexpr double kCollapse = 0.3;
constexpr std::size_t kMostRestarts = 2;

bool restarts(const std::vector<store::SnapshotInfo>& snapshots) {
  std::size_t collapses = 0;
  for (std::size_t i = 1; i < snapshots.size(); ++i) {
    const SnapshotFacts& before = snapshots[i - 1].facts;
    const SnapshotFacts& after = snapshots[i].facts;
    if (before.pid && after.pid && *before.pid != *after.pid) return true;
    const auto* const low = main_total(snapshots[i]);
    const auto* const high = main_total(snapshots[i - 1]);
    if (low != nullptr && high != nullptr && high->second > 0 &&
        static_cast<double>(low->second) < kCollapse * static_cast<double>(high->second))
      ++collapses;
  }
  return collapses > 0 && collapses <= kMostRestarts;
}

bool from_one_file(const std::vector<store::SnapshotInfo>& snapshots) {
  for (std::size_t i = 1; i < snapshots.size(); ++i) {
    const SnapshotFacts& before = snapshots[i - 1].facts;
    const SnapshotFacts& after = snapshots[i].facts;
    if (before.source.sha256.empty() || before.source.sha256 != after.source.sha256) return false;
    if (before.position >= after.position) return false;
  }
  return true;
}

}  // namespace

const std::pair<SampleType, std::int64_t>* main_total(const store::SnapshotInfo& info) {
  MetricList metrics{{}, info.facts.default_metric, false};
  for (const auto& [type, total] : info.totals) {
    if (!type.name.ends_with(kHalfUnitEnding)) metrics.types.push_back(type);
    if (type.name == kLostSpace) metrics.lost = total != 0;
  }
  const std::string chosen = default_metric(std::span(&metrics, 1));
  const auto at =
      std::find_if(info.totals.begin(), info.totals.end(), [&](const auto& one) { return one.first.name == chosen; });
  return at == info.totals.end() || chosen.empty() ? nullptr : &*at;
}

SharedAxis shared_axis(std::span<const store::SeriesInfo> series) {
  std::vector<TimedSeries> timed;
  for (const store::SeriesInfo& one : series) {
    TimedSeries times;
    for (const store::SnapshotInfo& info : one.snapshots) times.taken_at_ns.push_back(info.facts.taken_at_ns);
    times.ordered = one.order != store::Order::import || from_one_file(one.snapshots);
    times.restarts = restarts(one.snapshots);
    timed.push_back(std::move(times));
  }
  return trend::share_axis(timed);
}

std::string estimate_text(std::int64_t unix_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t part = unix_ns % kSecond;
  return "~" + time_text(unix_ns - (part < 0 ? part + kSecond : part));
}

std::vector<std::string> axis_lines(std::span<const store::SeriesInfo> series, const SharedAxis& axis) {
  std::vector<std::string> lines;
  const bool any = std::any_of(series.begin(), series.end(), [](const store::SeriesInfo& one) {
    return std::any_of(one.snapshots.begin(), one.snapshots.end(),
                       [](const store::SnapshotInfo& info) { return info.facts.taken_at_ns.has_value(); });
  });
  if (!any) return lines;
  for (std::size_t s = 0; s < series.size(); ++s) {
    const std::vector<store::SnapshotInfo>& snapshots = series[s].snapshots;
    const EstimatedTimes& times = axis.series[s];
    std::size_t missing = 0;
    std::optional<std::int64_t> first, last;
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
      if (!snapshots[i].facts.taken_at_ns) ++missing;
      if (!times.estimated_ns[i]) continue;
      if (!first) first = times.estimated_ns[i];
      last = times.estimated_ns[i];
    }
    if (missing == 0) continue;
    const auto count = [](std::size_t n) { return count_text(n); };
    std::string line = series[s].name + ": " + count(missing) + " of " + count(snapshots.size()) +
                       (missing == 1 ? " holds" : " hold") + " no time; ";
    if (times.count > 0) {
      line += (times.count < missing ? count(times.count) + " " : std::string()) +
              "placed by the order of the series " +
              (first == last ? "at " + estimate_text(*first)
                             : "from " + estimate_text(*first) + " to " + estimate_text(*last));
    }
    if (!times.why_not.empty()) line += (times.count > 0 ? ", others not: " : "not placed: ") + times.why_not;
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace snapdiff::session
