#include "analyzer/session/gate_rules.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <utility>

#include "analyzer/gate/check_gate.hpp"
#include "analyzer/session/document.hpp"
#include "analyzer/session/files.hpp"
#include "snapdiff/words.hpp"

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

Result<std::vector<Budget>> all_budgets(const GateRequest& wanted) {
  std::vector<Budget> budgets;
  if (!wanted.budget_file.empty()) {
    const Result<std::string> text = read_small_file(wanted.budget_file);
    if (!text) return text.error();
    Result<std::vector<Budget>> read = gate::parse_budgets(*text, wanted.budget_file);
    if (!read) return std::move(read).error();
    budgets = *std::move(read);
  }
  for (const std::string& one : wanted.budgets) {
    Result<Budget> budget = gate::parse_budget(one);
    if (!budget) return std::move(budget).error();
    budgets.push_back(*std::move(budget));
  }
  return budgets;
}

Result<std::vector<Allowance>> all_allowances(const GateRequest& wanted) {
  std::error_code ignored;
  if (wanted.allowance_file.empty() && !std::filesystem::exists(kDefaultAllowances, ignored))
    return std::vector<Allowance>{};
  const std::string path = allowance_path(wanted);
  // With --accept the file is about to be made.
  if (!wanted.accept.empty() && !std::filesystem::exists(path, ignored)) return std::vector<Allowance>{};
  const Result<std::string> text = read_small_file(path);
  if (!text) return text.error();
  return gate::parse_allowances(*text, path);
}

/// Appends entries for broken findings whose name or id matches; returns how many.
Result<std::size_t> accept_findings(const GateReport& report, const GateRequest& wanted) {
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
    if (!any) return Error{ErrorCode::usage, "--accept " + pattern + ": no finding that breaks a budget has this name"};
  }
  const std::string path = allowance_path(wanted);
  std::string text;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    Result<std::string> before = read_small_file(path);
    if (!before) return std::move(before).error();
    text = *std::move(before);
    if (!text.empty() && text.back() != '\n') text += '\n';
  } else {
    text = "# Growth that snapdiff gate accepts. Edit the amounts, days and reasons; the ids stay.\n";
  }
  if (Status written = write_file(path, text + gate::allowance_text(entries)); !written) return written.error();
  return entries.size();
}

GateReport checked(TrendReport trend, const std::vector<Budget>& budgets, const std::vector<Allowance>& allowances,
                   bool allow_unjudged) {
  GateReport report = gate::check(std::move(trend), budgets, allowances, today());
  report.allow_unjudged = allow_unjudged;
  return report;
}

}  // namespace

Result<GateRules> gate_rules(const GateRequest& wanted) {
  Result<std::vector<Budget>> budgets = all_budgets(wanted);
  if (!budgets) return std::move(budgets).error();
  Result<std::vector<Allowance>> allowances = all_allowances(wanted);
  if (!allowances) return std::move(allowances).error();
  return GateRules{*std::move(budgets), *std::move(allowances)};
}

Result<GateAnswer> judge_gate(TrendReport trend, const GateRequest& wanted, GateRules rules) {
  if (rules.budgets.empty()) rules.budgets = gate::default_budgets(trend.series.steps.size());
  GateAnswer answer;
  answer.report = checked(std::move(trend), rules.budgets, rules.allowances, wanted.allow_unjudged);
  if (wanted.accept.empty()) return answer;
  const Result<std::size_t> accepted = accept_findings(answer.report, wanted);
  if (!accepted) return accepted.error();
  answer.accepted = *accepted;
  answer.allowance_file = allowance_path(wanted);
  GateRequest again = wanted;
  again.accept.clear();
  const Result<std::vector<Allowance>> now = all_allowances(again);
  if (!now) return now.error();
  answer.report = checked(std::move(answer.report.trend), rules.budgets, *now, wanted.allow_unjudged);
  return answer;
}

}  // namespace snapdiff::session
