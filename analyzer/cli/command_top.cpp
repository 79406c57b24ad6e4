#include "analyzer/cli/addresses.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/session/device_moments.hpp"
#include "analyzer/session/labelled.hpp"

namespace snapdiff::cli {

int run_top(const Arguments& arguments) {
  Options options;
  CommandLine line("Heaviest stacks of one snapshot.",
                   "top [options] [OPERAND]\n\n"
                   "  OPERAND is a file, - (stdin), @3, @last or SERIES#3 (@last); of a CUDA snapshot "
                   "also\n  a moment: run.pickle@peak, @3@oom",
                   {"snapdiff top svc.0012.heap -n 5", "snapdiff top @last --by function --cum"});
  add_options(line, options,
              kTakesOperands | kFetches | kTakesView | kTakesRows | kTakesForm | kReadsFiles | kTakesSymbols);
  line.flag("--counters", options.counters, "values of counters (HeapSys, rss) instead of stacks");
  if (const auto code = line.parse(arguments)) return *code;
  fetch_operands(options);
  if (options.operands.empty()) options.operands.emplace_back("@last");
  if (options.operands.size() > 1) {
    fail({ErrorCode::usage, "top takes one snapshot: found " + std::to_string(options.operands.size())});
  }

  const Terminal terminal = look_at_terminal(options.no_color);
  const Question asked = understand(options, terminal);
  options.needs_hashes = asked.style.form != report::Form::text;
  const Loaded loaded = value_or_throw(
      session::load_operands(asked.operands, request_of(options, terminal), false, store::Parts::allocator));
  if (loaded.snapshots.size() != 1) {
    fail({ErrorCode::usage,
          "top takes one snapshot: '" + options.operands[0] + "' means " + std::to_string(loaded.snapshots.size())});
  }
  if (asks_for_counters(loaded.refs(), options)) return show_counters(loaded, options, asked.style);
  const TopReport report = value_or_throw(session::in_stage(
      watch_of(terminal), "summing up", [&] { return session::top_of(loaded.snapshots.front().ref, asked.view); }));
  const auto above = value_or_throw(session::above_top(loaded.snapshots.front(), asked.view, asked.style.form));
  print_written([&](const report::Style& style) { return report::write_top(report, style, above); }, asked.style);
  return tell_notes(loaded, options);
}

}  // namespace snapdiff::cli
