#include <algorithm>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/words.hpp"
#include "analyzer/cli/fleet_series.hpp"
#include "analyzer/session/list_text.hpp"
#include "snapdiff/trend.hpp"

namespace snapdiff::cli {
namespace {

constexpr std::size_t kMostSteps = 200;
/// The most steps in a row without a snapshot that the step before them stands for.
constexpr std::size_t kMostCarried = 2;

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
  notes.add(Severity::warning, counted(names.size(), "instance") + " restarted in between (" + instance_names(names) +
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

std::uint64_t age_of(const InstanceSeries& series) {
  return series.snapshots.back()->ts_ns - series.snapshots.front()->ts_ns;
}

const fleet::Committed* at_age(const InstanceSeries& series, std::uint64_t age) {
  const fleet::Committed* found = series.snapshots.front();
  for (const fleet::Committed* const one : series.snapshots) {
    if (one->ts_ns - series.snapshots.front()->ts_ns <= age) found = one;
  }
  return found;
}

std::uint64_t middle_age(const std::vector<const InstanceSeries*>& all) {
  std::vector<std::uint64_t> ages;
  for (const InstanceSeries* const one : all) ages.push_back(age_of(*one));
  const auto middle = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2);
  std::nth_element(ages.begin(), middle, ages.end());
  return *middle;
}

std::string versions_of(const std::vector<const InstanceSeries*>& all) {
  std::vector<std::string> versions;
  for (const InstanceSeries* const one : all) {
    const std::string& version = one->snapshots.back()->version;
    if (version.empty() || std::find(versions.begin(), versions.end(), version) != versions.end()) continue;
    versions.push_back(version);
  }
  return versions.empty() ? "" : " of " + instance_names(versions);
}

/// Two generations of pods: an equal number of each, at an age that both have reached.
void pair_at_equal_age(std::vector<const InstanceSeries*> earlier, std::vector<const InstanceSeries*> later,
                       TwoMoments& out) {
  const std::uint64_t age = std::min(middle_age(earlier), middle_age(later));
  for (auto* const all : {&earlier, &later}) {
    std::erase_if(*all, [&](const InstanceSeries* one) { return age_of(*one) < age; });
    std::stable_sort(all->begin(), all->end(), [](const InstanceSeries* a, const InstanceSeries* b) {
      return a->snapshots.front()->ts_ns < b->snapshots.front()->ts_ns;
    });
  }
  const std::size_t count = std::min(earlier.size(), later.size());
  earlier.resize(count);
  later.resize(count);
  for (std::size_t i = 0; i < count; ++i) out.pairs.emplace_back(at_age(*earlier[i], age), at_age(*later[i], age));
  out.notes.add(Severity::warning, "no instance is there at both moments: " + counted(count, "instance") +
                                       versions_of(earlier) + " beside " + std::to_string(count) + versions_of(later) +
                                       ", at an age of " + duration_text(static_cast<double>(age) / 1e9));
}

}  // namespace

TwoMoments two_moments(const std::vector<InstanceSeries>& instances, std::optional<std::uint64_t> from,
                       std::optional<std::uint64_t> to, const std::string& unit) {
  TwoMoments out;
  if (instances.size() == 1 && !from && !to) {
    const auto& only = instances.front().snapshots;
    if (only.size() > 1) out.pairs.emplace_back(only.front(), only.back());
    if (out.pairs.empty() || !restarted(instances.front(), only.front(), only.back())) return out;
    note_restarts({instances.front().name()}, out.notes);
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
  const std::uint64_t within = std::max(kFleetHourNs, last > first ? (last - first) / 10 : 0);
  std::vector<std::string> added, gone, both_restarted;
  std::vector<const InstanceSeries*> earlier, later;
  std::int64_t added_bytes = 0;
  std::int64_t gone_bytes = 0;
  for (const InstanceSeries& series : instances) {
    const fleet::Committed* const before = at_moment(series, first, within);
    const fleet::Committed* const after = at_moment(series, last, within);
    if (before != nullptr && after != nullptr && before != after) {
      out.pairs.emplace_back(before, after);
      if (restarted(series, before, after)) both_restarted.push_back(series.name());
    } else if (after != nullptr) {
      added.push_back(series.name());
      later.push_back(&series);
      added_bytes += after->total;
    } else if (before != nullptr) {
      gone.push_back(series.name());
      earlier.push_back(&series);
      gone_bytes += before->total;
    }
  }
  if (out.pairs.empty() && !earlier.empty() && !later.empty()) {
    pair_at_equal_age(std::move(earlier), std::move(later), out);
    return out;
  }
  if (!added.empty() || !gone.empty())
    out.notes.add(Severity::warning, counted(added.size(), "instance") + " new" +
                                         (added.empty() ? "" : " (" + instance_names(added) + ")") + ", " +
                                         std::to_string(gone.size()) + " gone" +
                                         (gone.empty() ? "" : " (" + instance_names(gone) + ")") + ": " +
                                         value_text(added_bytes - gone_bytes, unit, true) + ", in no row");
  note_restarts(both_restarted, out.notes);
  return out;
}

namespace {

std::uint64_t middle_distance(const std::vector<InstanceSeries>& instances) {
  std::vector<std::uint64_t> distances;
  for (const InstanceSeries& series : instances) {
    for (std::size_t i = 1; i < series.snapshots.size(); ++i) {
      const std::uint64_t before = series.snapshots[i - 1]->ts_ns;
      if (series.snapshots[i]->ts_ns > before) distances.push_back(series.snapshots[i]->ts_ns - before);
    }
  }
  if (distances.empty())
    fail({ErrorCode::usage, "no instance has two snapshots at different times: a series needs them"});
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

/// The snapshots of an instance by step since `origin`. A step without one has that of the step before, `carried`
/// steps at most; the first step that has none ends them.
struct OnSteps {
  const InstanceSeries* series = nullptr;
  std::vector<const fleet::Committed*> at;
  std::vector<std::uint8_t> own;  ///< parallel: the step has a snapshot of its own
};

OnSteps on_steps(const InstanceSeries& series, std::uint64_t origin, std::uint64_t step_ns) {
  OnSteps out{&series, {}, {}};
  for (const fleet::Committed* const one : series.snapshots) {
    const std::uint64_t since = one->ts_ns > origin ? one->ts_ns - origin : 0;
    const std::uint64_t step = since / step_ns;
    if (step >= out.at.size() + kMostCarried + 1) {
      if (out.at.empty()) return out;  // it begins later
      break;
    }
    while (out.at.size() <= step) {
      out.at.push_back(out.at.empty() ? one : out.at.back());
      out.own.push_back(0);
    }
    out.at[step] = one;
    out.own[step] = 1;
  }
  if (!out.own.empty() && out.own.front() == 0) out.at.clear();  // nothing to carry into its first step
  return out;
}

/// The number of steps that maximises values: steps times the instances that have them. Lengths that
/// can be judged go first.
std::size_t common_length(const std::vector<OnSteps>& all) {
  std::vector<std::size_t> lengths;
  for (const OnSteps& one : all) lengths.push_back(one.at.size());
  std::sort(lengths.rbegin(), lengths.rend());
  std::size_t best = 0;
  std::size_t most = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const bool judged = lengths[i] >= kJudgedFrom && (i + 1) * 2 >= lengths.size();
    const std::size_t values = lengths[i] * (i + 1) * (judged ? lengths.size() : 1);
    if (values > most && lengths[i] > 1) {
      most = values;
      best = lengths[i];
    }
  }
  return best;
}

/// Of each instance the process that lived longest.
std::vector<InstanceSeries> longest_lives(const std::vector<InstanceSeries>& instances) {
  std::vector<InstanceSeries> out;
  for (InstanceSeries& life : lives_of(instances)) {
    if (out.empty() || out.back().name() != life.name() || out.back().service != life.service) {
      out.push_back(std::move(life));
    } else if (life.snapshots.size() >= out.back().snapshots.size()) {
      out.back() = std::move(life);
    }
  }
  return out;
}

void put_on_grid(const std::vector<OnSteps>& all, std::size_t length, StepGrid& out) {
  std::vector<fleet::Step> steps(length);
  std::vector<std::uint8_t> has_own(length, 0);
  std::vector<std::string> left_out, restarts;
  for (const OnSteps& one : all) {
    if (one.at.size() < length) {
      left_out.push_back(one.series->name());
      continue;
    }
    for (std::size_t s = 0; s < length; ++s) {
      steps[s].members.push_back(one.at[s]);
      has_own[s] |= one.own[s];
    }
    out.ends.emplace_back(one.at.front(), one.at[length - 1]);
    if (restarted(*one.series, one.at.front(), one.at[length - 1])) restarts.push_back(one.series->name());
  }
  // A step without any snapshot repeats the step before.
  for (std::size_t s = 0; s < length; ++s) {
    if (has_own[s] != 0) out.steps.push_back(std::move(steps[s]));
  }
  if (!left_out.empty())
    out.notes.add(Severity::warning, counted(left_out.size(), "instance") +
                                         " without a snapshot at some step left out: " + instance_names(left_out) +
                                         "; of " + std::to_string(all.size()));
  note_restarts(restarts, out.notes);
}

}  // namespace

StepGrid step_grid(const std::vector<InstanceSeries>& instances, std::optional<std::uint64_t> step_ns) {
  StepGrid out;
  if (instances.size() == 1 && !step_ns) {
    for (const fleet::Committed* const one : instances.front().snapshots) out.steps.push_back({{one}});
    if (out.steps.size() > 1) out.ends.emplace_back(out.steps.front().members[0], out.steps.back().members[0]);
    return out;
  }
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
  std::uint64_t oldest = 0;
  for (const InstanceSeries& series : instances) {
    first = std::min(first, series.snapshots.front()->ts_ns);
    last = std::max(last, series.snapshots.back()->ts_ns);
    oldest = std::max(oldest, age_of(series));
  }
  const std::uint64_t middle = middle_distance(instances);
  out.step_ns = step_ns.value_or(std::max(middle, oldest / kMostSteps + 1));
  const std::uint64_t count = oldest / out.step_ns + 1;
  if (count > 10'000)
    fail({ErrorCode::usage, "--step gives " + std::to_string(count) + " steps, expected at most 10000"});

  // By the clock, where all are there at each step.
  const std::uint64_t by_clock = (last - first) / out.step_ns + 1;
  std::vector<OnSteps> all;
  for (const InstanceSeries& series : instances) {
    OnSteps one = on_steps(series, first, out.step_ns);
    while (one.at.size() < by_clock && one.at.size() + kMostCarried >= by_clock && !one.at.empty()) {
      one.at.push_back(one.at.back());
      one.own.push_back(0);
    }
    if (one.at.size() < by_clock) break;
    all.push_back(std::move(one));
  }
  if (all.size() == instances.size()) {
    put_on_grid(all, static_cast<std::size_t>(by_clock), out);
    return out;
  }
  const std::vector<InstanceSeries> lives = longest_lives(instances);
  all.clear();
  for (const InstanceSeries& life : lives) all.push_back(on_steps(life, life.snapshots.front()->ts_ns, out.step_ns));
  const std::size_t length = common_length(all);
  if (length < 2)
    fail({ErrorCode::usage, "none of " + counted(instances.size(), "instance") +
                                " has snapshots at steps that follow each other; expected a longer --step"});
  put_on_grid(all, length, out);
  out.notes.add(Severity::info,
                "instances begin at different times: each step is of equal age since their first snapshot");
  return out;
}

}  // namespace snapdiff::cli
