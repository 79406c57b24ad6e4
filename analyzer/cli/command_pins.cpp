#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/session/pins.hpp"

namespace snapdiff::cli {

int run_pins(const Arguments& arguments) {
  Options options;
  CommandLine line("Which stacks keep segments of a CUDA allocator from going back to the driver.",
                   "pins [options] [BASELINE] FILE\n\n"
                   "  FILE may be a moment of a trace (run.pickle@peak) or stored (@3, @3@peak)",
                   {"snapdiff pins run.pickle", "snapdiff pins run.pickle@100 run.pickle@end --as json"});
  add_options(line, options, kTakesOperands | kTakesFrames | kTakesCount | kTakesForm | kReadsFiles);
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.empty() || options.operands.size() > 2)
    fail({ErrorCode::usage,
          "pins takes one file, or a baseline and a file: found " + std::to_string(options.operands.size())});
  if (options.as != "text" && options.as != "json")
    fail({ErrorCode::usage, "pins --as " + options.as + ": expected text or json"});
  const auto make = [&](Loaded& loaded, const DiffOptions& view) -> Result<PinReport> {
    if (loaded.snapshots.size() != options.operands.size())
      return Error{ErrorCode::usage,
                   "pins takes one snapshot of each file: found " + std::to_string(loaded.snapshots.size())};
    const SnapshotRef baseline = loaded.snapshots.size() == 2 ? loaded.snapshots.front().ref : SnapshotRef{};
    return session::make_pins(baseline, loaded.snapshots.back().ref, view);
  };
  return answer_operands(options, {false, store::Parts::allocator}, "summing up", make, report::write_pins);
}

}  // namespace snapdiff::cli
