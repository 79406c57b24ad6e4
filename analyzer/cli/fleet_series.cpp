#include "analyzer/cli/fleet_series.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "analyzer/base/default_metric.hpp"
#include "analyzer/base/failure.hpp"
#include "analyzer/base/words.hpp"
#include "analyzer/cli/fleet_options.hpp"
#include "analyzer/session/list_text.hpp"

namespace snapdiff::cli {
namespace {

/// A clock is off where a snapshot lies 30 days and ten times the middle half of all times away from that half.
constexpr std::uint64_t kClockMarginNs = 30 * 24 * kFleetHourNs;
constexpr std::uint64_t kClockSpans = 10;

/// The processes of an instance that run at the same time: one after another is a restart, each is then in the series.
std::vector<InstanceSeries> side_by_side(InstanceSeries series) {
  std::vector<std::uint64_t> processes;
  bool returns = false;
  std::uint64_t last = 0;
  for (const fleet::Committed* const one : series.snapshots) {
    if (one->restart == 0 || one->restart == last) continue;
    const bool seen = std::find(processes.begin(), processes.end(), one->restart) != processes.end();
    returns = returns || seen;
    if (!seen) processes.push_back(one->restart);
    last = one->restart;
  }
  if (!returns) return {std::move(series)};
  std::vector<InstanceSeries> out;
  for (std::size_t i = 0; i < processes.size(); ++i)
    out.push_back({series.service,
                   series.instance,
                   "process " + std::to_string(i + 1) + " of " + std::to_string(processes.size()),
                   {}});
  for (const fleet::Committed* const one : series.snapshots) {
    const auto of = std::find(processes.begin(), processes.end(), one->restart) - processes.begin();
    out[static_cast<std::size_t>(of) % out.size()].snapshots.push_back(one);
  }
  return out;
}

}  // namespace

std::string instance_names(const std::vector<std::string>& names) {
  constexpr std::size_t kNamed = 3;
  return session::list_and_more(names, kNamed);
}

std::string choose_fleet_metric(const std::vector<fleet::Committed>& rows, const std::string& wanted,
                                const std::function<std::string()>& named) {
  std::map<std::string, std::string> units;
  MetricList metrics;
  for (const fleet::Committed& row : rows) {
    if (!row.metric.empty() && !row.metric.ends_with(kHalfUnitEnding)) units.emplace(row.metric, row.unit);
    if (row.metric == kLostSpace && row.total != 0) metrics.lost = true;
  }
  std::string list;
  for (const auto& [metric, unit] : units) {
    if (metric == wanted) return metric;
    metrics.types.push_back({metric, unit});
    list += (list.empty() ? "" : ", ") + metric;
  }
  if (wanted.empty()) {
    std::string chosen = default_metric(std::span(&metrics, 1));
    if (chosen.empty() && units.size() > 1) {
      metrics.named = named();
      chosen = default_metric(std::span(&metrics, 1));
    }
    if (!chosen.empty()) return chosen;
  }
  fail({ErrorCode::usage, (wanted.empty() ? std::string("no default metric") : "unknown metric: '" + wanted + "'") +
                              ", expected --metric with one of " + (list.empty() ? "none" : list)});
}

std::vector<InstanceSeries> instance_series(const std::vector<fleet::Committed>& rows, const std::string& metric) {
  std::map<std::pair<std::string, std::string>, InstanceSeries> found;
  for (const fleet::Committed& row : rows) {
    if (row.metric != metric) continue;
    InstanceSeries& series = found[{row.service, row.instance}];
    series.service = row.service;
    series.instance = row.instance;
    series.snapshots.push_back(&row);
  }
  std::vector<InstanceSeries> out;
  for (auto& [key, series] : found) {
    const bool timed = std::all_of(series.snapshots.begin(), series.snapshots.end(),
                                   [](const fleet::Committed* one) { return one->has_time; });
    std::stable_sort(series.snapshots.begin(), series.snapshots.end(),
                     [&](const fleet::Committed* a, const fleet::Committed* b) {
                       return timed && a->ts_ns != b->ts_ns ? a->ts_ns < b->ts_ns : a->nth < b->nth;
                     });
    for (InstanceSeries& process : side_by_side(std::move(series))) out.push_back(std::move(process));
  }
  return out;
}

std::vector<InstanceSeries> lives_of(const std::vector<InstanceSeries>& instances) {
  std::vector<InstanceSeries> lives;
  for (const InstanceSeries& series : instances) {
    std::uint64_t process = 0;
    for (const fleet::Committed* const one : series.snapshots) {
      const bool is_new =
          one == series.snapshots.front() || (one->restart != 0 && process != 0 && one->restart != process);
      if (is_new) lives.push_back({series.service, series.instance, series.process, {}});
      if (one->restart != 0) process = one->restart;
      lives.back().snapshots.push_back(one);
    }
  }
  return lives;
}

void leave_out_clocks(std::vector<InstanceSeries>& instances, Notes& notes) {
  std::vector<std::uint64_t> times;
  for (const InstanceSeries& series : instances) {
    for (const fleet::Committed* const one : series.snapshots) times.push_back(one->ts_ns);
  }
  if (instances.size() < 2 || times.size() < 4) return;
  std::sort(times.begin(), times.end());
  const std::uint64_t low = times[times.size() / 4];
  const std::uint64_t high = times[times.size() * 3 / 4];
  const std::uint64_t margin = std::max(kClockMarginNs, (high - low) * kClockSpans);
  std::vector<std::string> off;
  for (InstanceSeries& series : instances) {
    const auto is_off = [&](const fleet::Committed* one) {
      return one->ts_ns + margin < low || one->ts_ns > high + margin;
    };
    const auto first = std::find_if(series.snapshots.begin(), series.snapshots.end(), is_off);
    if (first == series.snapshots.end()) continue;
    off.push_back(series.name() + " at " + moment_text((*first)->ts_ns));
    std::erase_if(series.snapshots, is_off);
  }
  std::erase_if(instances, [](const InstanceSeries& series) { return series.snapshots.empty(); });
  if (!off.empty())
    notes.add(Severity::warning, "clock off: snapshots months from all others are left out: " + instance_names(off) +
                                     "; " + counted(off.size(), "instance"));
}

}  // namespace snapdiff::cli
