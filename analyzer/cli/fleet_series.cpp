#include "analyzer/cli/fleet_series.hpp"

#include <algorithm>
#include <map>

#include "analyzer/session/list_text.hpp"
#include "snapdiff/failure.hpp"
#include "snapdiff/words.hpp"

namespace snapdiff::cli {
namespace {

constexpr std::uint64_t kHourNs = 3'600'000'000'000;
constexpr std::size_t kMostSteps = 200;
constexpr std::size_t kNamed = 3;
/// So many steps in a row may lack a snapshot: the one before stands for them.
constexpr std::size_t kMostCarried = 2;

std::string names_of(const std::vector<std::string>& names) { return session::list_and_more(names, kNamed); }

bool restarted(const InstanceSeries& series, const fleet::Committed* from, const fleet::Committed* to) {
  std::uint64_t before = 0;
  for (const fleet::Committed* const one : series.snapshots) {
    if (one->ts_ns < from->ts_ns || one->ts_ns > to->ts_ns || one->restart == 0) continue;
    if (before != 0 && one->restart != before) return true;
    before = one->restart;
  }
  return false;
}

void note_restarts(const std::vector<std::string>& names, Notes& notes) {
  if (names.empty()) return;
  notes.add(Severity::warning, counted(names.size(), "instance") + " restarted in between (" + names_of(names) +
                                   "): growth there is of two processes");
}

/// The last snapshot at or before a moment, else the first after it, no farther away than `within`.
const fleet::Committed* at_moment(const InstanceSeries& series, std::uint64_t moment, std::uint64_t within) {
  const fleet::Committed* best = nullptr;
  for (const fleet::Committed* const one : series.snapshots) {
    if (one->ts_ns <= moment && moment - one->ts_ns <= within) best = one;
  }
  if (best != nullptr) return best;
  for (const fleet::Committed* const one : series.snapshots) {
    if (one->ts_ns > moment && one->ts_ns - moment <= within) return one;
  }
  return nullptr;
}

}  // namespace

std::string choose_fleet_metric(const std::vector<fleet::Committed>& rows, const std::string& wanted) {
  std::map<std::string, std::string> units;
  for (const fleet::Committed& row : rows) {
    if (!row.metric.empty() && !row.metric.ends_with(kHalfUnitEnding)) units.emplace(row.metric, row.unit);
  }
  const std::string asked = wanted.empty() && units.count("inuse_space") != 0 ? "inuse_space" : wanted;
  std::string list;
  std::vector<std::string> in_bytes;
  for (const auto& [metric, unit] : units) {
    if (metric == asked) return metric;
    if (unit == "bytes") in_bytes.push_back(metric);
    list += (list.empty() ? "" : ", ") + metric;
  }
  if (wanted.empty() && in_bytes.size() == 1) return in_bytes.front();
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
    out.push_back(std::move(series));
  }
  return out;
}

TwoMoments two_moments(const std::vector<InstanceSeries>& instances, std::optional<std::uint64_t> from,
                       std::optional<std::uint64_t> to, const std::string& unit) {
  TwoMoments out;
  if (instances.size() == 1 && !from && !to) {
    const auto& only = instances.front().snapshots;
    if (only.size() > 1) out.pairs.emplace_back(only.front(), only.back());
    if (out.pairs.empty() || !restarted(instances.front(), only.front(), only.back())) return out;
    note_restarts({instances.front().instance}, out.notes);
    return out;
  }
  std::uint64_t first = from.value_or(UINT64_MAX);
  std::uint64_t last = to.value_or(0);
  for (const InstanceSeries& series : instances) {
    for (const fleet::Committed* const one : series.snapshots) {
      if (!from) first = std::min(first, one->ts_ns);
      if (!to) last = std::max(last, one->ts_ns);
    }
  }
  const std::uint64_t within = std::max(kHourNs, last > first ? (last - first) / 10 : 0);
  std::vector<std::string> added, gone, both_restarted;
  std::int64_t added_bytes = 0;
  std::int64_t gone_bytes = 0;
  for (const InstanceSeries& series : instances) {
    const fleet::Committed* const before = at_moment(series, first, within);
    const fleet::Committed* const after = at_moment(series, last, within);
    if (before != nullptr && after != nullptr && before != after) {
      out.pairs.emplace_back(before, after);
      if (restarted(series, before, after)) both_restarted.push_back(series.instance);
    } else if (after != nullptr) {
      added.push_back(series.instance);
      added_bytes += after->total;
    } else if (before != nullptr) {
      gone.push_back(series.instance);
      gone_bytes += before->total;
    }
  }
  if (!added.empty() || !gone.empty())
    out.notes.add(Severity::warning,
                  counted(added.size(), "instance") + " new" + (added.empty() ? "" : " (" + names_of(added) + ")") +
                      ", " + std::to_string(gone.size()) + " gone" + (gone.empty() ? "" : " (" + names_of(gone) + ")") +
                      ": " + value_text(added_bytes - gone_bytes, unit, true) + ", in no row");
  note_restarts(both_restarted, out.notes);
  return out;
}

StepGrid step_grid(const std::vector<InstanceSeries>& instances, std::optional<std::uint64_t> step_ns) {
  StepGrid out;
  if (instances.size() == 1 && !step_ns) {
    for (const fleet::Committed* const one : instances.front().snapshots) out.steps.push_back({{one}});
    if (out.steps.size() > 1) out.ends.emplace_back(out.steps.front().members[0], out.steps.back().members[0]);
    return out;
  }
  std::vector<std::uint64_t> distances;
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
  for (const InstanceSeries& series : instances) {
    for (std::size_t i = 0; i < series.snapshots.size(); ++i) {
      const std::uint64_t time = series.snapshots[i]->ts_ns;
      first = std::min(first, time);
      last = std::max(last, time);
      if (i > 0 && time > series.snapshots[i - 1]->ts_ns) distances.push_back(time - series.snapshots[i - 1]->ts_ns);
    }
  }
  if (distances.empty())
    fail({ErrorCode::usage, "no instance has two snapshots at different times: a series needs them"});
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  out.step_ns = step_ns.value_or(std::max(*middle, (last - first) / kMostSteps + 1));
  const std::uint64_t count = (last - first) / out.step_ns + 1;
  if (count > 10'000)
    fail({ErrorCode::usage, "--step gives " + std::to_string(count) + " steps, expected at most 10000"});
  out.steps.resize(static_cast<std::size_t>(count));
  std::vector<std::uint8_t> has_own(out.steps.size(), 0);
  const auto step_of = [&](const fleet::Committed& one) {
    return static_cast<std::size_t>((one.ts_ns - first) / out.step_ns);
  };
  std::vector<std::string> left_out, restarts;
  for (const InstanceSeries& series : instances) {
    std::vector<const fleet::Committed*> at(out.steps.size(), nullptr);
    for (const fleet::Committed* const one : series.snapshots) at[step_of(*one)] = one;
    std::size_t carried = 0;
    bool whole = true;
    for (std::size_t s = 0; s < at.size(); ++s) {
      carried = at[s] != nullptr ? 0 : carried + 1;
      if (at[s] == nullptr && s > 0) at[s] = at[s - 1];
      whole = whole && at[s] != nullptr && carried <= kMostCarried;
    }
    if (!whole) {
      left_out.push_back(series.instance);
      continue;
    }
    for (std::size_t s = 0; s < at.size(); ++s) out.steps[s].members.push_back(at[s]);
    for (const fleet::Committed* const one : series.snapshots) has_own[step_of(*one)] = 1;
    out.ends.emplace_back(at.front(), at.back());
    if (restarted(series, at.front(), at.back())) restarts.push_back(series.instance);
  }
  if (out.ends.empty())
    fail({ErrorCode::usage, "none of " + counted(instances.size(), "instance") +
                                " has a snapshot at every step; expected a longer --step or a shorter --since"});
  // A step that nobody has a snapshot of is the one before.
  std::size_t kept = 0;
  for (std::size_t s = 0; s < out.steps.size(); ++s) {
    if (has_own[s] != 0) std::swap(out.steps[kept++], out.steps[s]);
  }
  out.steps.resize(kept);
  if (!left_out.empty())
    out.notes.add(Severity::warning, counted(left_out.size(), "instance") +
                                         " without a snapshot at some step left out: " + names_of(left_out) + "; of " +
                                         std::to_string(instances.size()));
  note_restarts(restarts, out.notes);
  return out;
}

}  // namespace snapdiff::cli
