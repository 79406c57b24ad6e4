#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/objects/retained_objects.hpp"
#include "analyzer/report/report.hpp"

namespace snapdiff::cli {

int run_paths(const Arguments& arguments) {
  Options options;
  objects::PathOptions wanted;
  CommandLine line("Shortest paths from roots to the objects of matching types, and which of them grow.",
                   "paths [options] REGEX FILE [FILE...]\n\n"
                   "  FILE is a V8 heap snapshot, an HPROF dump or another one with references,\n"
                   "  oldest first; REGEX (RE2) is searched in the names of types",
                   {"snapdiff paths '^Session$' 1.heapsnapshot 2.heapsnapshot 3.heapsnapshot",
                    "snapdiff paths Session app.hprof --as json"});
  add_options(line, options, kTakesOperands | kTakesCount | kTakesForm | kReadsFiles);
  line.count("--loops", wanted.loops, {1, 1'000'000'000},
             "rounds of the program between two snapshots: a place\n"
             "grows when it gains that many each time (1)");
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.size() < 2)
    fail({ErrorCode::usage,
          "paths takes a pattern and one file or more: found " + std::to_string(options.operands.size()) + " words"});
  if (options.as != "text" && options.as != "json")
    fail({ErrorCode::usage, "paths --as " + options.as + ": expected text or json"});
  wanted.pattern = options.operands.front();
  options.operands.erase(options.operands.begin());
  const auto make = [&](Loaded& loaded, const DiffOptions&) { return objects::paths(loaded.refs(), wanted); };
  return answer_operands(options, {.expand = options.operands.size() == 1}, "finding paths", make, report::write_paths);
}

}  // namespace snapdiff::cli
