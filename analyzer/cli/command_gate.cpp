#include <algorithm>
#include <ctime>
#include <filesystem>
#include <utility>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/document.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/gate_answer.hpp"
#include "analyzer/cli/judged_series.hpp"
#include "analyzer/cli/output_file.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/recording.hpp"
#include "analyzer/cli/small_file.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/gate/gate.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::cli {
namespace {

constexpr const char* kDefaultAllowances = "snapdiff-accept.toml";

/// The day in UTC; SOURCE_DATE_EPOCH wins, so that a run can be repeated.
std::string today() {
  const std::time_t now = source_date_epoch_s().value_or(std::time(nullptr));
  std::tm parts{};
  gmtime_r(&now, &parts);
  char day[16];
  return std::strftime(day, sizeof day, "%Y-%m-%d", &parts) > 0 ? day : "";
}

Result<std::vector<Budget>> all_budgets(const GateOptions& options) {
  std::vector<Budget> budgets;
  if (!options.budget_file.empty()) {
    const Result<std::string> text = read_small_file(options.budget_file);
    if (!text) return text.error();
    Result<std::vector<Budget>> read = gate::parse_budgets(*text, options.budget_file);
    if (!read) return std::move(read).error();
    budgets = *std::move(read);
  }
  for (const std::string& one : options.budgets) {
    Result<Budget> budget = gate::parse_budget(one);
    if (!budget) return std::move(budget).error();
    budgets.push_back(*std::move(budget));
  }
  return budgets;
}

Result<std::vector<Allowance>> all_allowances(const GateOptions& options) {
  std::error_code ignored;
  if (options.allowance_file.empty() && !std::filesystem::exists(kDefaultAllowances, ignored))
    return std::vector<Allowance>{};
  const std::string path = options.allowance_file.empty() ? kDefaultAllowances : options.allowance_file;
  // With --accept the file is about to be made.
  if (!options.accept.empty() && !std::filesystem::exists(path, ignored)) return std::vector<Allowance>{};
  const Result<std::string> text = read_small_file(path);
  if (!text) return text.error();
  return gate::parse_allowances(*text, path);
}

/// Appends entries for broken findings whose name or id matches; returns how many.
Result<std::size_t> accept_findings(const GateReport& report, const GateOptions& options) {
  std::vector<Allowance> entries;
  for (const std::string& pattern : options.accept) {
    bool any = false;
    for (const GateFinding& finding : report.findings) {
      if (finding.outcome != Outcome::broken) continue;
      if (finding.id != pattern && !gate::matches("*" + pattern + "*", finding.name)) continue;
      any = true;
      const bool there =
          std::any_of(entries.begin(), entries.end(), [&](const Allowance& one) { return one.id == finding.id; });
      if (!there) entries.push_back(gate::allowance_for(finding, report, options.until, options.reason));
    }
    if (!any) return Error{ErrorCode::usage, "--accept " + pattern + ": no finding that breaks a budget has this name"};
  }
  const std::string path = options.allowance_file.empty() ? kDefaultAllowances : options.allowance_file;
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
  if (Status written = write_output(path, text + gate::allowance_text(entries)); !written) return written.error();
  return entries.size();
}

GateReport checked(TrendReport trend, const std::vector<Budget>& budgets, const std::vector<Allowance>& allowances,
                   bool allow_unjudged) {
  GateReport report = gate::check(std::move(trend), budgets, allowances, today());
  report.allow_unjudged = allow_unjudged;
  return report;
}

}  // namespace

void add_gate_options(CommandLine& line, GateOptions& wanted) {
  line.texts("--budget", "AMOUNT", wanted.budgets, "a budget; repeatable");
  line.text("--budgets", "FILE", wanted.budget_file, "budgets in a TOML file, see analyzer/gate/README.md");
  line.text("--allow", "FILE", wanted.allowance_file, "accepted growth (snapdiff-accept.toml, when there)");
  line.texts("--accept", "NAME", wanted.accept,
             "accept what breaks a budget and has this in its\n"
             "name, or this id; repeatable");
  line.text("--until", "YYYY-MM-DD", wanted.until, "last day of what is accepted")
      .check([](const std::string& day) -> Status {
        if (gate::is_day(day)) return ok();
        return Error{ErrorCode::usage, "found '" + day + "', expected a day like 2026-12-31"};
      });
  line.text("--reason", "TEXT", wanted.reason, "why it is accepted");
  line.flag("--allow-unjudged", wanted.allow_unjudged, "exit 0 where a budget could not be judged");
  line.text("--junit", "FILE", wanted.junit, "write JUnit XML");
  line.text("--sarif", "FILE", wanted.sarif, "write SARIF 2.1.0");
}

Result<GateRules> gate_rules(const GateOptions& wanted) {
  Result<std::vector<Budget>> budgets = all_budgets(wanted);
  if (!budgets) return std::move(budgets).error();
  Result<std::vector<Allowance>> allowances = all_allowances(wanted);
  if (!allowances) return std::move(allowances).error();
  return GateRules{*std::move(budgets), *std::move(allowances)};
}

Result<GateReport> judge_gate(TrendReport trend, const GateOptions& wanted, GateRules rules) {
  if (rules.budgets.empty()) rules.budgets = gate::default_budgets(trend.series.steps.size());
  GateReport report = checked(std::move(trend), rules.budgets, rules.allowances, wanted.allow_unjudged);
  if (!wanted.accept.empty()) {
    const Result<std::size_t> accepted = accept_findings(report, wanted);
    if (!accepted) return accepted.error();
    say("accepted " + report::count_text(static_cast<std::int64_t>(*accepted)) + " in " +
        escape_for_terminal(wanted.allowance_file.empty() ? kDefaultAllowances : wanted.allowance_file));
    GateOptions again = wanted;
    again.accept.clear();
    const Result<std::vector<Allowance>> now = all_allowances(again);
    if (!now) return now.error();
    report = checked(std::move(report.trend), rules.budgets, *now, wanted.allow_unjudged);
  }
  return report;
}

Status write_gate_reports(const GateReport& report, const GateOptions& options) {
  if (!options.junit.empty()) {
    if (Status written = write_output(options.junit, report::gate_junit(report)); !written) return written;
  }
  if (options.sarif.empty()) return ok();
  return write_output(options.sarif, report::gate_sarif(report, SNAPDIFF_VERSION));
}

/// What is not judged is not passed.
int exit_code_of_gate(const GateReport& report) {
  if (report.is_breached()) return kExitGateBreached;
  const std::size_t unjudged = report.budgets_with(Outcome::unjudged);
  if (unjudged == 0 || report.allow_unjudged) return kExitDone;
  return fail({ErrorCode::usage, std::to_string(unjudged) + " of " + std::to_string(report.budgets.size()) +
                                     " budgets could not be judged; --allow-unjudged accepts that"});
}

int run_gate(const Arguments& arguments) {
  Options options;
  GateOptions wanted;
  CommandLine line("Fail when growth breaks a budget: for CI.",
                   "gate [OPERAND...] [options]\n\n"
                   "  Exit 0: held, 1: broken, 2: not judged, wrong usage or input. AMOUNT is 10MiB,\n"
                   "  5%, 100KiB/step, 482KiB/h, 10GiB/7d or 5%/jump; before it total: for the\n"
                   "  whole, suspect: for each suspect, else it is for each stack. Without a budget:\n"
                   "  below 8 snapshots total:5% and suspect:5%, else nothing may be GROWING or\n"
                   "  jump by 5%",
                   {"snapdiff gate heaps/ --budget 100KiB/step --budget total:3%/step",
                    "snapdiff gate --budgets leaks.toml --junit gate.xml --sarif gate.sarif",
                    "snapdiff gate heaps/ --accept leak_log --until 2026-12-31"});
  add_options(line, options,
              kTakesOperands | kTakesSeries | kTakesView | kTakesRows | kTakesForm | kReadsFiles | kTakesSymbols);
  add_gate_options(line, wanted);
  if (const auto code = line.parse(arguments)) return *code;

  Result<GateRules> rules = gate_rules(wanted);
  if (!rules) return fail(rules.error());
  const Terminal terminal = look_at_terminal(options.no_color);
  const Result<report::Style> style = style_of(options, terminal);
  if (!style) return fail(style.error());
  const Result<Compared> compared = load_compared(options, terminal, Fallback::snapshots);
  if (!compared) return fail(compared.error());
  if (compared->loaded.snapshots.size() < 2)
    return fail({ErrorCode::usage, "a gate needs at least two snapshots: found 1"});

  Recording recording(store_for_reading(options, compared->loaded), compared->loaded, compared->options, terminal,
                      options.series);
  Result<JudgedSeries> judged = in_stage(terminal.stderr_is_terminal, "judging",
                                         [&] { return judge_series(compared->loaded.refs(), compared->options); });
  if (!judged) return fail(judged.error());
  const Result<GateReport> report = judge_gate(std::move(judged->trend), wanted, *std::move(rules));
  if (!report) return fail(report.error());
  const std::string text = report::write_gate(*report, *style);
  recording.answered();
  const Status printed = print_report(text, style->form);
  const Status written = write_gate_reports(*report, wanted);
  const int partial_code = tell_notes(compared->loaded, options);
  const int stored_code = recording.finish();
  if (!printed) return fail(printed.error());
  if (!written) return fail(written.error());
  if (const int worst = std::max(partial_code, stored_code); worst != kExitDone) return worst;
  return exit_code_of_gate(*report);
}

}  // namespace snapdiff::cli
