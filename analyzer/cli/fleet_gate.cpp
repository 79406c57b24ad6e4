#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/base/words.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/fleet_slice.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/gate/check_gate.hpp"
#include "analyzer/session/judged_series.hpp"
#include "analyzer/session/list_text.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::cli {
namespace {

constexpr std::size_t kNamedInGate = 3;
constexpr std::size_t kWithinShown = 5;

/// Judges each process of each instance by itself, and adds up what they say.
class FleetGate {
 public:
  FleetGate(FleetSlice& slice, const GateOptions& wanted, session::GateRules rules)
      : slice_(slice), wanted_(wanted), rules_(std::move(rules)) {}

  GateReport run() {
    const std::vector<InstanceSeries> lives = lives_of(slice_.instances);
    const bool any_judged = std::any_of(lives.begin(), lives.end(),
                                        [](const InstanceSeries& one) { return one.snapshots.size() >= kJudgedFrom; });
    // One rule for all: where some have a verdict, two snapshots of another do not stand for one.
    if (rules_.budgets.empty()) rules_.budgets = gate::default_budgets({any_judged ? kJudgedFrom : 2});
    for (const InstanceSeries& life : lives) add(life);
    return finish();
  }

 private:
  void add(const InstanceSeries& life) {
    if (out_.instances.empty() || out_.instances.back().name != life.name())
      out_.instances.push_back({life.name(), GateResult::passed, 0, 0, ""});
    GatedInstance& instance = out_.instances.back();
    instance.snapshots += life.snapshots.size();
    if (life.snapshots.size() < 2) {
      note_unjudged(instance, "one snapshot");
      return;
    }
    std::vector<fleet::Step> steps;
    for (const fleet::Committed* const one : life.snapshots) steps.push_back({{one}});
    const std::vector<SnapshotRef> refs = fetch_refs(slice_, made_whole(slice_, std::move(steps)), 0);
    GateReport report = judged(refs, trend::Emptied::may_be_a_cache);
    if (!report.is_breached() && refs.size() >= 2 * kJudgedFrom) keep_doubtful(refs);
    for (GateFinding& finding : report.findings) take(std::move(finding), instance);
    const bool is_worst = out_.budgets.empty() || (report.is_breached() && !has_breached_);
    has_breached_ = has_breached_ || report.is_breached();
    if (!is_worst) return;
    out_.trend = std::move(report.trend);
    out_.budgets = std::move(report.budgets);
    out_.stale = std::move(report.stale);
    out_.allow_unjudged = report.allow_unjudged;
  }

  GateReport judged(const std::vector<SnapshotRef>& refs, trend::Emptied emptied) {
    session::GateSeries series{value_or_throw(session::judge_series(refs, slice_.view, {}, {}, emptied)), false};
    return judge_gate(std::move(series), wanted_, rules_);
  }

  /// Findings that break a budget if a fall that ends a rise was a restart. They count where they break one elsewhere.
  void keep_doubtful(const std::vector<SnapshotRef>& refs) {
    for (GateFinding& finding : judged(refs, trend::Emptied::is_a_restart).findings) {
      if (finding.outcome == Outcome::broken) doubtful_.emplace_back(out_.instances.size() - 1, std::move(finding));
    }
  }

  void take_doubtful() {
    for (auto& [instance, finding] : doubtful_) {
      const auto told = told_.find({finding.budget, finding.id});
      if (told == told_.end() || told->second.finding.outcome != Outcome::broken) continue;
      take(std::move(finding), out_.instances[instance]);
    }
  }

  void note_unjudged(GatedInstance& instance, const std::string& why) {
    if (instance.result == GateResult::passed) instance.result = GateResult::unjudged;
    instance.note = why;
  }

  void take(GateFinding finding, GatedInstance& instance) {
    if (finding.outcome == Outcome::broken) {
      instance.result = GateResult::failed;
      ++instance.broken;
    }
    if (finding.outcome == Outcome::unjudged) note_unjudged(instance, finding.note);
    Told& told = told_[{finding.budget, finding.id}];
    const bool is_first = told.on.empty();
    if (is_first || finding.outcome > told.finding.outcome) {
      told.finding = std::move(finding);
      told.on = {instance.name};
      return;
    }
    if (finding.outcome < told.finding.outcome) return;
    if (told.on.back() != instance.name) told.on.push_back(instance.name);
    if (finding.measured > told.finding.measured) told.finding = std::move(finding);
  }

  GateReport finish() {
    take_doubtful();
    std::size_t within = 0;
    std::vector<Told> all;
    for (auto& [key, told] : told_) all.push_back(std::move(told));
    std::stable_sort(all.begin(), all.end(), [](const Told& a, const Told& b) {
      if (a.finding.outcome != b.finding.outcome) return a.finding.outcome > b.finding.outcome;
      return a.on.size() != b.on.size() ? a.on.size() > b.on.size() : a.finding.measured > b.finding.measured;
    });
    for (Told& told : all) {
      if (told.finding.outcome == Outcome::within && ++within > kWithinShown) continue;
      std::string on = "on " + std::to_string(told.on.size()) + " of " + counted(out_.instances.size(), "instance") +
                       ": " + session::list_and_more(told.on, kNamedInGate);
      told.finding.note = told.finding.note.empty() ? std::move(on) : told.finding.note + "; " + on;
      out_.findings.push_back(std::move(told.finding));
    }
    if (out_.budgets.empty()) fail({ErrorCode::usage, "no instance has two snapshots: a gate needs them"});
    out_.trend.series.overall.notes.add_all(slice_.notes);
    return std::move(out_);
  }

  struct Told {
    GateFinding finding;
    std::vector<std::string> on;
  };

  FleetSlice& slice_;
  const GateOptions& wanted_;
  session::GateRules rules_;
  GateReport out_;
  bool has_breached_ = false;
  std::vector<std::pair<std::size_t, GateFinding>> doubtful_;  // by instance
  std::map<std::pair<std::size_t, std::string>, Told> told_;
};

}  // namespace

int fleet_gate(const FleetQuestion& asked) {
  session::GateRules rules = value_or_throw(session::gate_rules(asked.gate));
  FleetSlice slice = open_slice(asked);
  const GateReport report = session::in_stage(watch_of(asked.terminal), "judging",
                                              [&] { return FleetGate(slice, asked.gate, std::move(rules)).run(); });
  print_written([&](const report::Style& style) { return report::write_gate(report, style); }, slice.style);
  for (const Note& note : slice.notes.all()) say_note(note);
  write_gate_reports(report, asked.gate);
  return exit_code_of_gate(report);
}

}  // namespace snapdiff::cli
