#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/waterfall/make_waterfall.hpp"

namespace snapdiff::cli {

int run_waterfall(const Arguments& arguments) {
  Options options;
  CommandLine line("What a process's resident memory consists of, and which part grew.",
                   "waterfall [options] FILE...\n\n"
                   "  RSS = in use + free memory that allocators keep + stacks + mapped files +\n"
                   "  GPU drivers' mappings + unexplained. Files of one process, of any kinds:\n"
                   "  /proc/PID/smaps, status; malloc_info(), GetStats(), _debugmallocstats; Native\n"
                   "  Memory Tracking, GC.heap_info; heap profiles. Of each kind the first and the\n"
                   "  last are compared",
                   {"snapdiff waterfall status.1 status.9 malloc_info.1.xml malloc_info.9.xml",
                    "snapdiff waterfall smaps nmt.txt heap_info.txt --as json"});
  add_options(line, options, kTakesOperands | kTakesForm | kReadsFiles);
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.empty()) fail({ErrorCode::usage, "waterfall needs at least one file, see --help"});
  if (options.as != "text" && options.as != "json")
    fail({ErrorCode::usage, "waterfall --as " + options.as + ": expected text or json"});
  const auto make = [](Loaded& loaded, const DiffOptions&) {
    // The operands are files of several kinds. Their order among each other means nothing.
    loaded.notes = {};
    return waterfall::make_waterfall(loaded.refs());
  };
  return answer_operands(options, {.expand = true}, "adding up", make, report::write_waterfall);
}

}  // namespace snapdiff::cli
