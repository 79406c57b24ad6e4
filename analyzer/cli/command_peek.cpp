#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/diff/diff.hpp"

namespace snapdiff::cli {

int run_peek(const Arguments& arguments) {
  Options options;
  CommandLine line("Callers and callees of the functions that match, with their growth.",
                   "peek [options] REGEX [OPERAND OPERAND]\n\n"
                   "  Of two builds the stacks through these functions that changed most are shown\n"
                   "  side by side. Without operands: what was last compared",
                   {"snapdiff peek 'leak_' a.heap b.heap", "snapdiff peek push_back"});
  add_options(line, options,
              kTakesOperands | kTakesSeries | kTakesView | kTakesRows | kTakesForm | kReadsFiles | kTakesSymbols);
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.empty()) fail({ErrorCode::usage, "peek needs a regular expression, see --help"});
  const std::string regex = options.operands.front();
  options.operands.erase(options.operands.begin());

  const Terminal terminal = look_at_terminal(options.no_color);
  const report::Style style = style_of(options, terminal);
  const session::Compared compared = open_compared(options, terminal, session::Fallback::with_view);
  const auto& snapshots = compared.loaded.snapshots;
  const PeekReport report = value_or_throw(session::in_stage(watch_of(terminal), "comparing", [&] {
    return diff::peek(snapshots.front().ref, snapshots.back().ref, regex, compared.options);
  }));
  print_written([&](const report::Style& form) { return report::write_peek(report, form); }, style);
  if (report.functions.empty()) say("no function matches " + escape_for_terminal(regex));
  return tell_notes(compared.loaded, options);
}

}  // namespace snapdiff::cli
