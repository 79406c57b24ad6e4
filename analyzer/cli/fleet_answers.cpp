#include "analyzer/cli/fleet_answers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "analyzer/base/option_words.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/fleet_instances.hpp"
#include "analyzer/cli/fleet_series.hpp"
#include "analyzer/cli/fleet_slice.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/session/judged_series.hpp"
#include "analyzer/session/list_text.hpp"
#include "analyzer/session/ranks.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::cli {
namespace {

constexpr std::size_t kNamedVersions = 4;
constexpr std::size_t kNamedInstances = 6;

/// --by version, instance, service, or a label that snapshots as a whole have: rows are grouped by it.
std::optional<fleet::Pivot> pivot_of(const std::string& by, const std::vector<fleet::Committed>& rows) {
  if (by == "version") return fleet::Pivot{by, [](const fleet::Committed& one) { return one.version; }};
  if (by == "instance") return fleet::Pivot{by, [](const fleet::Committed& one) { return one.instance; }};
  if (by == "service") return fleet::Pivot{by, [](const fleet::Committed& one) { return one.service; }};
  if (!by.starts_with(kLabelWord)) return std::nullopt;
  const std::string key = by.substr(kLabelWord.size());
  const auto value_of = [key](const fleet::Committed& one) {
    for (const auto& [name, value] : one.labels) {
      if (name == key) return value;
    }
    return std::string();
  };
  if (std::all_of(rows.begin(), rows.end(), [&](const fleet::Committed& one) { return value_of(one).empty(); }))
    return std::nullopt;
  return fleet::Pivot{key, value_of};
}

/// Every metric of one snapshot, so that it comes as it was pushed.
fleet::Step whole_snapshot(const std::vector<fleet::Committed>& rows, const fleet::Committed* one) {
  fleet::Step step;
  for (const fleet::Committed& row : rows) {
    if (row.push == one->push && row.snapshot == one->snapshot) step.members.push_back(&row);
  }
  return step;
}

/// The default metric that the file of the newest snapshot names.
std::string named_metric(fleet::Fleet& from, const std::vector<fleet::Committed>& rows) {
  const fleet::Step newest = whole_snapshot(rows, &rows.back());
  return value_or_throw(from.fetch(std::span(&newest, 1))).front().facts.default_metric;
}

}  // namespace

FleetSlice open_slice(const FleetQuestion& asked) {
  const report::Style style = style_of(asked.options, asked.terminal);
  fleet::Fleet from = connect(asked.servers);
  std::vector<fleet::Committed> rows = rows_of_slice(from, asked);
  FleetSlice slice{std::move(from), style, {}, pivot_of(asked.options.by, rows), std::move(rows), {}, {}, {}};
  Options options = asked.options;
  if (slice.pivot) options.by = std::string(kLabelWord) + slice.pivot->key;
  slice.view = diff_options(options);
  slice.view.metric =
      choose_fleet_metric(slice.rows, asked.options.metric, [&] { return named_metric(slice.from, slice.rows); });
  slice.instances = instance_series(slice.rows, slice.view.metric);
  leave_out_clocks(slice.instances, slice.notes);
  if (!slice.instances.empty()) slice.unit = slice.instances.front().snapshots.front()->unit;
  if (asked.servers.service.empty() && slice.pivot.value_or(fleet::Pivot{}).key != "service") {
    std::set<std::string> services;
    for (const InstanceSeries& one : slice.instances) services.insert(one.service);
    if (services.size() > 1)
      fail({ErrorCode::usage,
            std::to_string(services.size()) + " services: expected --service NAME; 'snapdiff fleet list' shows them"});
  }
  return slice;
}

namespace {

std::string ref_of(const fleet::Step& step) {
  const fleet::Committed& first = *step.members.front();
  const bool is_sum = step.members.back()->push != first.push;
  std::uint64_t newest = 0;
  for (const fleet::Committed* const member : step.members) newest = std::max(newest, member->ts_ns);
  return first.service + (is_sum ? ", " + std::to_string(step.members.size()) + " instances" : "/" + first.instance) +
         " at " + moment_text(newest);
}

/// Snapshots of one second are distinguished by their files.
void tell_apart(std::vector<SnapshotRef>& refs) {
  std::map<std::string, std::size_t> uses;
  for (const SnapshotRef& ref : refs) ++uses[ref.ref];
  for (SnapshotRef& ref : refs) {
    const SnapshotFacts& facts = ref.snapshot->facts;
    if (uses[ref.ref] == 1 || facts.source.name.empty()) continue;
    const std::string position = facts.position > 0 ? "#" + std::to_string(facts.position) : "";
    ref.ref += " (" + std::string(base_name(facts.source.name)) + position + ")";
  }
}

}  // namespace

std::vector<SnapshotRef> fetch_refs(FleetSlice& slice, const std::vector<fleet::Step>& steps, std::int64_t floor,
                                    fleet::GrowthBeside* beside) {
  std::vector<Snapshot> snapshots = value_or_throw(slice.from.fetch(steps, slice.pivot_or_null(), floor, beside));
  std::vector<SnapshotRef> refs;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    SnapshotRef ref;
    ref.snapshot = std::make_shared<const Snapshot>(std::move(snapshots[i]));
    ref.ref = ref_of(steps[i]);
    refs.push_back(std::move(ref));
  }
  tell_apart(refs);
  return refs;
}

namespace {

/// `pivot`: of the rows; they need not be separated where it distinguishes the versions.
void add_notes(const Notes& notes, const std::vector<fleet::Step>& steps, const fleet::Pivot* pivot,
               GrowthReport& report) {
  report.notes.add_all(notes);
  std::set<std::string> versions;
  std::uint64_t partial = 0;
  for (const fleet::Step& step : steps) {
    for (const fleet::Committed* const member : step.members) {
      versions.insert(member->version);
      partial += member->partial ? 1U : 0U;
    }
  }
  const bool apart = pivot != nullptr && (pivot->key == "version" || pivot->key == "instance");
  if (versions.size() > 1 && !apart) {
    std::vector<std::string> names;
    names.reserve(versions.size());
    for (const std::string& version : versions) names.push_back(version.empty() ? "none" : version);
    report.notes.add(Severity::info, std::to_string(versions.size()) +
                                         " versions are added up: " + session::list_and_more(names, kNamedVersions) +
                                         "; --by version separates them");
  }
  if (partial > 0) report.notes.add(Severity::data_loss, "snapshots that are partial", std::nullopt, partial);
}

/// Where to go from here: sums over instances are no operands of the commands that files lead to.
void lead_on(const FleetQuestion& asked, const fleet::Committed& first, GrowthReport& report) {
  if (!report.story) return;
  auto story = std::make_shared<Story>(*report.story);
  const bool is_pair = asked.word == "diff";
  if (is_pair && !story->no_verdict.empty())
    story->no_verdict = "two moments have none, 'snapdiff fleet trend' judges what lies between them";
  const bool is_plain = first.service.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == std::string::npos;
  story->next = {};
  if (is_plain) {
    story->next = {{is_pair ? "snapdiff fleet trend --service " : "snapdiff fleet pull --service ", false},
                   {first.service, true}};
    if (!is_pair) story->next.push_back({" -o incident.db", false});
  }
  report.story = std::move(story);
}

}  // namespace

std::vector<fleet::Step> made_whole(const FleetSlice& slice, std::vector<fleet::Step> steps) {
  for (fleet::Step& step : steps) {
    if (step.members.size() == 1 && !slice.pivot) step = whole_snapshot(slice.rows, step.members.front());
  }
  return steps;
}

namespace {

struct FleetTrend {
  FleetSlice slice;
  TrendReport trend;
  std::vector<SnapshotRef> refs;
};

struct FleetDiff {
  report::Style style;
  GrowthReport report;
  std::vector<SnapshotRef> refs;
};

/// "GROWING on 20 of 21 instances": of several the totals are judged, each on an axis of its own.
void tell_verdicts(const std::vector<InstanceSeries>& instances, const std::string& unit, Notes& notes) {
  if (instances.size() < 2) return;
  std::map<std::string, std::vector<std::string>> names;
  for (const InstanceSeries& life : lives_of(instances)) {
    std::vector<double> values, times;
    double largest = 0;
    for (const fleet::Committed* const one : life.snapshots) {
      values.push_back(static_cast<double>(one->total));
      times.push_back(static_cast<double>(one->ts_ns - life.snapshots.front()->ts_ns));
      largest = std::max(largest, std::abs(values.back()));
    }
    std::string word;
    if (values.size() >= kJudgedFrom) {
      trend::Points points;
      points.values = values;
      points.times = times;
      points.floor = kFloorShare * largest;
      points.unit = unit;
      word = trend::judge(points).word;
      if (word != "GROWING") continue;
    }
    std::vector<std::string>& all = names[word.empty() ? "not judged (fewer than 8 snapshots)" : word];
    if (all.empty() || all.back() != life.name()) all.push_back(life.name());
  }
  for (const auto& [word, all] : names)
    notes.add(word == "GROWING" ? Severity::info : Severity::warning,
              word + " on " + std::to_string(all.size()) + " of " + std::to_string(instances.size()) +
                  " instances: " + session::list_and_more(all, kNamedInstances));
}

FleetTrend judge_fleet(const FleetQuestion& asked) {
  FleetSlice slice = open_slice(asked);
  StepGrid grid = step_grid(slice.instances, duration_of("--step", asked.servers.step));
  if (grid.steps.size() < 2 || (asked.word == "trend" && grid.steps.size() < 3))
    fail({ErrorCode::usage, "too few snapshots: found " + std::to_string(grid.steps.size()) + ", expected at least " +
                                (asked.word == "trend" ? "3" : "2")});
  const std::vector<fleet::Step> steps = asked.floor.value_or(0) > 0 ? grid.steps : made_whole(slice, grid.steps);
  std::vector<SnapshotRef> refs = fetch_refs(slice, steps, asked.floor.value_or(0));
  const std::optional<double> floor =
      asked.floor ? std::optional(static_cast<double>(*asked.floor)) : std::optional<double>();
  TrendReport trend = value_or_throw(session::judge_series(refs, slice.view, asked.limit, floor));
  GrowthReport& overall = trend.series.overall;
  overall.notes.add_all(slice.notes);
  tell_verdicts(slice.instances, slice.unit, overall.notes);
  add_notes(grid.notes, steps, slice.pivot_or_null(), overall);
  // Of one life of a process: growth is counted over the same snapshots.
  std::vector<MomentPair> ends;
  const std::size_t first = trend.left_out, last = refs.size() - trend.left_after - 1;
  for (std::size_t i = 0; i < grid.ends.size(); ++i)
    ends.emplace_back(grid.steps[first].members[i],
                      trend.left_after > 0 ? grid.steps[last].members[i] : grid.ends[i].second);
  const std::vector<SnapshotRef> judged_refs(refs.begin() + static_cast<std::ptrdiff_t>(first),
                                             refs.begin() + static_cast<std::ptrdiff_t>(last + 1));
  count_instances(slice.from, ends, judged_refs, slice.pivot_or_null(), overall);
  lead_on(asked, *steps.front().members.front(), overall);
  return FleetTrend{std::move(slice), std::move(trend), std::move(refs)};
}

/// `refs`: of single snapshots, what was noted while they were read is said.
int print_answer(const WriteAnswer& write, const report::Style& style, std::span<const SnapshotRef> refs = {}) {
  print_written(write, style);
  for (const SnapshotRef& ref : refs) tell_import_notes(ref);
  return kExitDone;
}

FleetDiff answer_diff(const FleetQuestion& asked) {
  FleetSlice slice = open_slice(asked);
  const std::optional<std::uint64_t> from = moment_of("--from", asked.servers.from);
  const std::optional<std::uint64_t> to = moment_of("--to", asked.servers.to, from);
  TwoMoments moments = two_moments(slice.instances, from, to, slice.unit);
  if (moments.pairs.empty())
    fail({ErrorCode::usage, "no instance has snapshots at both moments: found " +
                                std::to_string(slice.instances.size()) + " instances, expected at least one with two"});
  std::vector<fleet::Step> steps(2);
  for (const MomentPair& pair : moments.pairs) {
    steps[0].members.push_back(pair.first);
    steps[1].members.push_back(pair.second);
  }
  steps = made_whole(slice, std::move(steps));
  fleet::GrowthBeside beside{slice.view.metric, {}};
  std::vector<SnapshotRef> refs = fetch_refs(slice, steps, 0, &beside);
  GrowthReport report = value_or_throw(session::compare_pair(refs[0], refs[1], slice.view));
  report.notes.add_all(slice.notes);
  add_notes(moments.notes, steps, slice.pivot_or_null(), report);
  count_instances(slice.from, moments.pairs, refs, slice.pivot_or_null(), report, std::move(beside.growth));
  lead_on(asked, *moments.pairs.front().first, report);
  add_import_notes(report, slice.style.form);
  return FleetDiff{slice.style, std::move(report), std::move(refs)};
}

}  // namespace

int fleet_diff(const FleetQuestion& asked) {
  const FleetDiff answer = session::in_stage(watch_of(asked.terminal), "comparing", [&] { return answer_diff(asked); });
  const auto write = [&](const report::Style& style) { return report::write_diff(answer.report, style); };
  return print_answer(write, answer.style, answer.refs);
}

int fleet_trend(const FleetQuestion& asked) {
  const FleetTrend trend = session::in_stage(watch_of(asked.terminal), "judging", [&] { return judge_fleet(asked); });
  const auto write = [&](const report::Style& style) { return report::write_trend(trend.trend, style); };
  return print_answer(write, trend.slice.style, trend.refs);
}

int fleet_outliers(const FleetQuestion& asked) {
  if (asked.options.as != "text" && asked.options.as != "json")
    fail({ErrorCode::usage, "fleet outliers --as " + asked.options.as + ": expected text or json"});
  FleetSlice slice = open_slice(asked);
  std::stable_sort(slice.instances.begin(), slice.instances.end(),
                   [](const InstanceSeries& a, const InstanceSeries& b) {
                     return a.snapshots.back()->total > b.snapshots.back()->total;
                   });
  std::vector<fleet::Step> steps;
  std::vector<RankFacts> ranks;
  for (const InstanceSeries& series : slice.instances) {
    steps.push_back({{series.snapshots.back()}});
    RankFacts rank;
    rank.name = series.name();
    ranks.push_back(std::move(rank));
  }
  const std::vector<SnapshotRef> refs = fetch_refs(slice, steps, asked.floor.value_or(0));
  const RankReport report = value_or_throw(session::rank_snapshots(refs, std::move(ranks), slice.view));
  return print_answer([&](const report::Style& style) { return report::write_ranks(report, style); }, slice.style);
}

}  // namespace snapdiff::cli
