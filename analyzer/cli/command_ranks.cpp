#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
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
  if (options.operands.empty()) fail({ErrorCode::usage, "ranks needs at least one file, see --help"});
  if (options.as != "text" && options.as != "json")
    fail({ErrorCode::usage, "ranks --as " + options.as + ": expected text or json"});
  const auto make = [](Loaded& loaded, const DiffOptions& view) {
    // They were taken side by side: the order of their times means nothing.
    loaded.notes = {};
    return session::rank_devices(loaded, view);
  };
  return answer_operands(options, {}, "comparing", make, report::write_ranks);
}

}  // namespace snapdiff::cli
