#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/document.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/output_file.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/recording.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/gate/gate.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::cli {
namespace {

constexpr const char* kDefaultAllowances = "snapdiff-accept.toml";
constexpr std::uintmax_t kMostConfigBytes = 16 * 1024 * 1024;

struct GateOptions {
  std::vector<std::string> budgets;
  std::string budget_file;
  std::string allowance_file;
  std::vector<std::string> accept;
  std::string until;
  std::string reason;
  std::string junit;
  std::string sarif;
};

Result<std::string> read_config(const std::string& path) {
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (failure) return Error{ErrorCode::io, failure.message(), std::nullopt, path};
  if (size > kMostConfigBytes) return Error{ErrorCode::limit, "too large: expected at most 16 MiB", std::nullopt, path};
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Error{ErrorCode::io, "cannot be read", std::nullopt, path};
  return text.str();
}

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
    const Result<std::string> text = read_config(options.budget_file);
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
  if (budgets.empty()) budgets.push_back(*gate::parse_budget("0/step"));
  return budgets;
}

Result<std::vector<Allowance>> all_allowances(const GateOptions& options) {
  std::error_code ignored;
  if (options.allowance_file.empty() && !std::filesystem::exists(kDefaultAllowances, ignored))
    return std::vector<Allowance>{};
  const std::string path = options.allowance_file.empty() ? kDefaultAllowances : options.allowance_file;
  // With --accept the file is about to be made.
  if (!options.accept.empty() && !std::filesystem::exists(path, ignored)) return std::vector<Allowance>{};
  const Result<std::string> text = read_config(path);
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
    Result<std::string> before = read_config(path);
    if (!before) return std::move(before).error();
    text = *std::move(before);
    if (!text.empty() && text.back() != '\n') text += '\n';
  } else {
    text = "# Growth that snapdiff gate accepts. Edit the amounts, days and reasons; the ids stay.\n";
  }
  if (Status written = write_output(path, text + gate::allowance_text(entries)); !written) return written.error();
  return entries.size();
}

Status write_reports(const GateReport& report, const GateOptions& options) {
  if (!options.junit.empty()) {
    if (Status written = write_output(options.junit, report::gate_junit(report)); !written) return written;
  }
  if (options.sarif.empty()) return ok();
  return write_output(options.sarif, report::gate_sarif(report, SNAPDIFF_VERSION));
}

/// Rates that could not be judged, when they must be.
bool is_unjudged(const GateReport& report) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [](const GateFinding& finding) { return finding.outcome == Outcome::unjudged; });
}

}  // namespace

int run_gate(const Arguments& arguments) {
  Options options;
  GateOptions wanted;
  auto app = make_command_app("Fail when growth breaks a budget: for CI.",
                              "gate [OPERAND...] [options]\n\n"
                              "  Exit 0: held, 1: broken, 2: wrong usage or input. AMOUNT is 10MiB, 5%,\n"
                              "  100KiB/step, 3%/step, 482KiB/h or 10GiB/7d; with total: before it for the\n"
                              "  whole, else for each stack. Without a budget: nothing may be GROWING",
                              {"snapdiff gate heaps/ --budget 100KiB/step --budget total:3%/step",
                               "snapdiff gate --budgets leaks.toml --junit gate.xml --sarif gate.sarif",
                               "snapdiff gate heaps/ --accept leak_log --until 2026-12-31"});
  add_options(*app, options, kTakesOperands | kTakesView | kTakesRows | kTakesForm | kReadsFiles | kTakesSymbols);
  app->add_option("--budget", wanted.budgets, "a budget; repeatable")->type_name("AMOUNT")->allow_extra_args(false);
  app->add_option("--budgets", wanted.budget_file, "budgets in a TOML file, see analyzer/gate/README.md")
      ->type_name("FILE");
  app->add_option("--allow", wanted.allowance_file, "accepted growth (snapdiff-accept.toml, when there)")
      ->type_name("FILE");
  app->add_option("--accept", wanted.accept,
                  "accept what breaks a budget and has this in its\n"
                  "                           name, or this id; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app->add_option("--until", wanted.until, "last day of what is accepted")
      ->type_name("YYYY-MM-DD")
      ->check(CLI::Validator(
          [](const std::string& day) {
            return gate::is_day(day) ? std::string() : "found '" + day + "', expected a day like 2026-12-31";
          },
          ""));
  app->add_option("--reason", wanted.reason, "why it is accepted")->type_name("TEXT");
  app->add_option("--junit", wanted.junit, "write JUnit XML")->type_name("FILE");
  app->add_option("--sarif", wanted.sarif, "write SARIF 2.1.0")->type_name("FILE");
  if (const auto code = parse_arguments(*app, options, arguments)) return *code;

  const Result<std::vector<Budget>> budgets = all_budgets(wanted);
  if (!budgets) return fail(budgets.error());
  const Result<std::vector<Allowance>> allowances = all_allowances(wanted);
  if (!allowances) return fail(allowances.error());
  const Terminal terminal = look_at_terminal(options.no_color);
  const Result<report::Style> style = style_of(options, terminal);
  if (!style) return fail(style.error());
  const Result<Compared> compared = load_compared(options, terminal, Fallback::newest_series);
  if (!compared) return fail(compared.error());
  if (compared->loaded.snapshots.size() < 2)
    return fail({ErrorCode::usage, "a gate needs at least two snapshots: found 1"});

  Recording recording(choose_store(options), compared->loaded, compared->options, terminal);
  const auto diff_part = [&](std::span<const SnapshotRef> part) { return diff::diff_series(part, compared->options); };
  Result<TrendReport> trend = in_stage(terminal.stderr_is_terminal, "judging", [&] {
    return trend::judge_since_restart(compared->loaded.refs(), diff_part, std::nullopt);
  });
  if (!trend) return fail(trend.error());
  GateReport report = gate::check(*std::move(trend), *budgets, *allowances, today());
  if (!wanted.accept.empty()) {
    const Result<std::size_t> accepted = accept_findings(report, wanted);
    if (!accepted) return fail(accepted.error());
    say("accepted " + report::count_text(static_cast<std::int64_t>(*accepted)) + " in " +
        escape_for_terminal(wanted.allowance_file.empty() ? kDefaultAllowances : wanted.allowance_file));
    GateOptions again = wanted;
    again.accept.clear();
    const Result<std::vector<Allowance>> now = all_allowances(again);
    if (!now) return fail(now.error());
    report = gate::check(std::move(report.trend), *budgets, *now, today());
  }
  const std::string text = report::write_gate(report, *style);
  recording.answered();
  const Status printed = print_data(text);
  const Status written = write_reports(report, wanted);
  const int partial_code = tell_notes(compared->loaded, options);
  const int stored_code = recording.finish();
  if (!printed) return fail(printed.error());
  if (!written) return fail(written.error());
  if (const int worst = std::max(partial_code, stored_code); worst != kExitDone) return worst;
  if (report.is_breached()) return kExitGateBreached;
  if (options.strict && is_unjudged(report))
    return fail({ErrorCode::usage, "budgets that could not be judged, refused by --strict"});
  return kExitDone;
}

}  // namespace snapdiff::cli
