#include <algorithm>
#include <utility>

#include "analyzer/base/number_text.hpp"
#include "analyzer/cli/addresses.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/gate_answer.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/recorded.hpp"
#include "analyzer/gate/check_gate.hpp"

namespace snapdiff::cli {

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

GateReport judge_gate(session::GateSeries series, const GateOptions& wanted, session::GateRules rules) {
  session::GateAnswer answer = value_or_throw(session::judge_gate(std::move(series), wanted, std::move(rules)));
  if (answer.accepted)
    say("accepted " + count_text(*answer.accepted) + " in " + escape_for_terminal(answer.allowance_file));
  return std::move(answer.report);
}

void write_gate_reports(const GateReport& report, const GateOptions& options) {
  if (!options.junit.empty()) write_output(options.junit, report::gate_junit(report));
  if (!options.sarif.empty()) write_output(options.sarif, report::gate_sarif(report, SNAPDIFF_VERSION));
}

/// What is not judged is not passed.
int exit_code_of_gate(const GateReport& report) {
  if (report.is_breached()) return kExitGateBreached;
  const std::size_t unjudged = report.budgets_with(Outcome::unjudged);
  const std::size_t instances = report.unjudged_instances();
  if (unjudged + instances == 0 || report.allow_unjudged) return kExitDone;
  if (instances > 0)
    fail({ErrorCode::usage, std::to_string(instances) + " of " + std::to_string(report.instances.size()) +
                                " instances could not be judged; --allow-unjudged accepts that"});
  fail({ErrorCode::usage, std::to_string(unjudged) + " of " + std::to_string(report.budgets.size()) +
                              " budgets could not be judged; --allow-unjudged accepts that"});
}

int run_gate(const Arguments& arguments) {
  Options options;
  GateOptions wanted;
  CommandLine line(
      "Fail when growth breaks a budget: for CI.",
      "gate [OPERAND...] [options]\n\n"
      "  Exit 0: held, 1: broken, 2: not judged, wrong usage or input. AMOUNT is 10MiB,\n"
      "  5%, 100KiB/step, 482KiB/h, 10GiB/7d or 5%/jump; before it total: for the\n"
      "  whole, culprit: for each culprit, else it is for each stack. It is held against\n"
      "  growth less two standard deviations. Without a budget: below 8 snapshots\n"
      "  total:5% and culprit:5%, else no culprit may be GROWING; with a release in the\n"
      "  series nothing may jump by 5 %. Of logs each counter is judged",
      {"snapdiff gate heaps/ --budget 100KiB/step --budget total:3%/step", "snapdiff gate rss.log --budget 1MiB/h",
       "snapdiff gate heaps/ --budgets leaks.toml --junit gate.xml --sarif gate.sarif",
       "snapdiff gate heaps/ --accept leak_log --until 2026-12-31"});
  add_options(
      line, options,
      kTakesOperands | kFetches | kTakesSeries | kTakesView | kTakesRows | kTakesForm | kReadsFiles | kTakesSymbols);
  add_gate_options(line, wanted);
  bool last = false;
  line.flag("--last", last, "judge what was last compared, in place of operands");
  line.flag("--counters", options.counters, "counters (HeapSys, rss) instead of stacks");
  if (const auto code = line.parse(arguments)) return *code;
  fetch_operands(options);
  if (last != (options.operands.empty() && options.series.empty()))
    fail({ErrorCode::usage, last ? "--last: found operands, expected none"
                                 : "a gate needs operands, as 'snapdiff gate heaps/'; --last judges what was last "
                                   "compared"});

  session::GateRules rules = value_or_throw(session::gate_rules(wanted));
  const Terminal terminal = look_at_terminal(options.no_color);
  const report::Style style = style_of(options, terminal);
  const session::Compared compared = open_compared(options, terminal, session::Fallback::snapshots);
  if (compared.loaded.snapshots.size() < 2) fail({ErrorCode::usage, "a gate needs at least two snapshots: found 1"});

  session::Recording recording(session::store_for_reading(request_of(options, terminal), compared.loaded),
                               compared.loaded, compared.options, options.series);
  session::GateSeries series = value_or_throw(session::in_stage(watch_of(terminal), "judging", [&] {
    return session::gate_series(compared.loaded.refs(), compared.options, options.counters);
  }));
  const GateReport report = judge_gate(std::move(series), wanted, std::move(rules));
  recording.answered();
  const Status printed = guarded(
      [&] { print_written([&](const report::Style& form) { return report::write_gate(report, form); }, style); });
  const Status written = guarded([&] { write_gate_reports(report, wanted); });
  const int partial_code = tell_notes(compared.loaded, options);
  const int stored_code = finish(recording, terminal);
  value_or_throw(printed);
  value_or_throw(written);
  if (const int worst = std::max(partial_code, stored_code); worst != kExitDone) return worst;
  return exit_code_of_gate(report);
}

}  // namespace snapdiff::cli
