#include "analyzer/session/gate_rules.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/words.hpp"
#include "analyzer/gate/check_gate.hpp"
#include "analyzer/session/document.hpp"
#include "analyzer/session/files.hpp"

namespace snapdiff::session {
namespace {

constexpr const char* kDefaultAllowances = "snapdiff-accept.toml";

/// The day in UTC; SOURCE_DATE_EPOCH wins, so that a run can be repeated.
std::string today() {
  const std::int64_t now = source_date_epoch_s().value_or(std::time(nullptr));
  return utc_text(now * 1'000'000'000).substr(0, 10);
}

std::string allowance_path(const GateRequest& wanted) {
  return wanted.allowance_file.empty() ? kDefaultAllowances : wanted.allowance_file;
}

std::vector<Budget> all_budgets(const GateRequest& wanted) {
  std::vector<Budget> budgets;
  if (!wanted.budget_file.empty()) {
    const std::string text = value_or_throw(read_small_file(wanted.budget_file));
    budgets = value_or_throw(gate::parse_budgets(text, wanted.budget_file));
  }
  for (const std::string& one : wanted.budgets) budgets.push_back(value_or_throw(gate::parse_budget(one)));
  return budgets;
}

std::vector<Allowance> all_allowances(const GateRequest& wanted) {
  std::error_code ignored;
  if (wanted.allowance_file.empty() && !std::filesystem::exists(kDefaultAllowances, ignored)) return {};
  const std::string path = allowance_path(wanted);
  // With --accept the file is about to be made.
  if (!wanted.accept.empty() && !std::filesystem::exists(path, ignored)) return {};
  return value_or_throw(gate::parse_allowances(value_or_throw(read_small_file(path)), path));
}

/// Appends entries for broken findings whose name or id matches; returns how many.
std::size_t accept_findings(const GateReport& report, const GateRequest& wanted) {
  std::vector<Allowance> entries;
  for (const std::string& pattern : wanted.accept) {
    bool any = false;
    for (const GateFinding& finding : report.findings) {
      if (finding.outcome != Outcome::broken) continue;
      if (finding.id != pattern && !gate::matches("*" + pattern + "*", finding.name)) continue;
      any = true;
      const bool there =
          std::any_of(entries.begin(), entries.end(), [&](const Allowance& one) { return one.id == finding.id; });
      if (!there) entries.push_back(gate::allowance_for(finding, report, wanted.until, wanted.reason));
    }
    if (!any) fail({ErrorCode::usage, "--accept " + pattern + ": no finding that breaks a budget has this name"});
  }
  const std::string path = allowance_path(wanted);
  std::string text;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    text = value_or_throw(read_small_file(path));
    if (!text.empty() && text.back() != '\n') text += '\n';
  } else {
    text = "# Growth that snapdiff gate accepts. Edit the amounts, days and reasons; the ids stay.\n";
  }
  value_or_throw(write_file(path, text + gate::allowance_text(entries)));
  return entries.size();
}

/// One recording comes from one build, however its stacks match.
bool holds_a_release(const std::vector<SeriesStep>& steps) {
  const auto source = [&](std::size_t i) -> const std::string& {
    return steps[i].snapshot.snapshot->facts.source.sha256;
  };
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i].other_build && (source(i).empty() || source(i) != source(i - 1))) return true;
  }
  return false;
}

GateReport checked(GateSeries series, const std::vector<Budget>& budgets, const std::vector<Allowance>& allowances,
                   bool allow_unjudged) {
  GateReport report = gate::check(std::move(series.trend), budgets, allowances, today(), series.counters);
  report.allow_unjudged = allow_unjudged;
  return report;
}

}  // namespace

Result<GateRules> gate_rules(const GateRequest& wanted) {
  return guarded([&]() -> GateRules { return {all_budgets(wanted), all_allowances(wanted)}; });
}

Result<GateAnswer> judge_gate(GateSeries series, const GateRequest& wanted, GateRules rules) {
  return guarded([&]() -> GateAnswer {
    const std::vector<SeriesStep>& steps = series.trend.series.steps;
    const bool has_release = holds_a_release(steps);
    if (rules.budgets.empty()) rules.budgets = gate::default_budgets({steps.size(), has_release, series.counters});
    GateAnswer answer;
    const bool counters = series.counters;
    answer.report = checked(std::move(series), rules.budgets, rules.allowances, wanted.allow_unjudged);
    if (wanted.accept.empty()) return answer;
    answer.accepted = accept_findings(answer.report, wanted);
    answer.allowance_file = allowance_path(wanted);
    GateRequest again = wanted;
    again.accept.clear();
    answer.report = checked({std::move(answer.report.trend), counters}, rules.budgets, all_allowances(again),
                            wanted.allow_unjudged);
    return answer;
  });
}

}  // namespace snapdiff::session
