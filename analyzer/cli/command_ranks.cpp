#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/session/ranks.hpp"

namespace snapdiff::cli {

int run_ranks(const Arguments& arguments) {
  Options options;
  CommandLine line("Processes or devices that do the same work beside each other: which one differs.",
                   "ranks [options] FILE FILE...\n\n"
                   "  a rank is a file, or a device of a CUDA snapshot of several; ranks are known by\n"
                   "  names like snap_rank3.pickle; moments of a trace are taken too: FILE@peak",
                   {"snapdiff ranks snap_rank*.pickle", "snapdiff ranks all.pickle --metric pinned_space"});
  add_options(line, options, kTakesOperands | kTakesView | kTakesCount | kTakesForm | kReadsFiles);
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.empty()) return fail({ErrorCode::usage, "ranks needs at least one file, see --help"});
  if (options.as != "text" && options.as != "json")
    return fail({ErrorCode::usage, "ranks --as " + options.as + ": expected text or json"});
  const Terminal terminal = look_at_terminal(options.no_color);
  const Result<Question> asked = understand(options, terminal);
  if (!asked) return fail(asked.error());
  Result<Loaded> loaded = session::load_operands(asked->operands, request_of(options, terminal), false);
  if (!loaded) return fail(loaded.error());
  // They were taken side by side: the order of their times means nothing.
  loaded->notes = {};
  const Result<RankReport> report =
      session::in_stage(watch_of(terminal), "comparing", [&] { return session::rank_devices(*loaded, asked->view); });
  if (!report) return fail(report.error());
  if (Status printed = print_report(report::write_ranks(*report, asked->style), asked->style.form); !printed)
    return fail(printed.error());
  return tell_notes(*loaded, options);
}

}  // namespace snapdiff::cli
