#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/counter_answer.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/session/failures.hpp"
#include "analyzer/session/labelled.hpp"

namespace snapdiff::cli {

int run_top(const Arguments& arguments) {
  Options options;
  CommandLine line("Heaviest stacks of one snapshot.",
                   "top [options] [OPERAND]\n\n"
                   "  OPERAND is a file, - (stdin), @3, @last or SERIES#3 (@last); of a CUDA snapshot "
                   "also\n  a moment: run.pickle@peak, @3@oom",
                   {"snapdiff top svc.0012.heap -n 5", "snapdiff top @last --by function --cum"});
  add_options(line, options, kTakesOperands | kTakesView | kTakesRows | kTakesForm | kReadsFiles | kTakesSymbols);
  line.flag("--counters", options.counters, "values of counters (HeapSys, rss) instead of stacks");
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.empty()) options.operands.emplace_back("@last");
  if (options.operands.size() > 1) {
    return fail({ErrorCode::usage, "top takes one snapshot: found " + std::to_string(options.operands.size())});
  }

  const Terminal terminal = look_at_terminal(options.no_color);
  const Result<Question> asked = understand(options, terminal);
  if (!asked) return fail(asked.error());
  const Result<Loaded> loaded =
      session::load_operands(asked->operands, request_of(options, terminal), false, store::Parts::allocator);
  if (!loaded) return fail(loaded.error());
  if (loaded->snapshots.size() != 1) {
    return fail({ErrorCode::usage, "top takes one snapshot: '" + options.operands[0] + "' means " +
                                       std::to_string(loaded->snapshots.size())});
  }
  if (asks_for_counters(loaded->refs(), options)) return show_counters(*loaded, options, asked->style);
  const Result<TopReport> report = session::in_stage(
      watch_of(terminal), "summing up", [&] { return session::top_of(loaded->snapshots.front().ref, asked->view); });
  if (!report) return fail(report.error());
  const auto above = session::above_top(loaded->snapshots.front(), asked->view, asked->style.form);
  if (!above) return fail(above.error());
  if (Status printed = print_report(report::write_top(*report, asked->style, *above), asked->style.form); !printed)
    return fail(printed.error());
  return tell_notes(*loaded, options);
}

}  // namespace snapdiff::cli
