#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/load.hpp"
#include "analyzer/cli/naming.hpp"
#include "analyzer/cli/object_commands.hpp"
#include "analyzer/cli/operands.hpp"
#include "analyzer/cli/options.hpp"
#include "analyzer/cli/terminal.hpp"
#include "snapdiff/nearest.hpp"

namespace snapdiff::cli {

std::span<const Command> commands() {
  static constexpr std::array kCommands = {Command{"diff", run_diff},
                                           Command{"trend", run_trend},
                                           Command{"gate", run_gate},
                                           Command{"top", run_top},
                                           Command{"peek", run_peek},
                                           Command{"render", run_render},
                                           Command{"postmortem", run_postmortem},
                                           Command{"import", run_import},
                                           Command{"list", run_list},
                                           Command{"rm", run_rm},
                                           Command{"prune", run_prune},
                                           Command{"merge", run_merge},
                                           Command{"info", run_info},
                                           Command{"formats", run_formats},
                                           Command{"sql", run_sql},
                                           Command{"export", run_export},
                                           Command{"symbolize", run_symbolize},
                                           Command{"pins", run_pins},
                                           Command{"ranks", run_ranks},
                                           Command{"retained", run_retained},
                                           Command{"paths", run_paths}};
  return kCommands;
}

namespace {

constexpr std::string_view kHelp =
    R"(Show what grew between heap snapshots, and where it was allocated.

usage: snapdiff A B [C ...]          compare files, oldest first
       snapdiff COMMAND [options]

look
  diff [REF REF]    growth per stack between two snapshots, or over a series
  trend [REF...]    leak or not: slope and verdict per stack over a series
  top REF           heaviest stacks of one snapshot
  peek RE [REF REF] callers and callees of a function, with their growth
  pins [BASE] FILE  CUDA: who keeps memory from going back to the driver
  ranks FILE...     processes or devices side by side: which one differs
  retained FILE...  object graphs: what each type keeps alive, how it grew
  paths RE FILE...  object graphs: who holds these types, which places grow
  info FILE...      what a file is, and what was dropped
  list              series and snapshots in the store
share
  postmortem FILE... -o DIR               the report as PDF, HTML, Markdown, JSON
  render --pdf|--svg|--png|--dot|--html   graph of the last comparison
  render --timeline|--segments|--pins     charts of a CUDA snapshot
  render --retained                       what keeps what alive, object graphs
  export --pprof|--folded|--speedscope|--csv|--jsonl|--plain-sqlite
automate
  gate [REF...]     fail when growth breaks a budget
  import FILE...    read snapshots into the store
  sql [QUERY]       SQL over the store
  rm, prune, merge  remove snapshots, keep the newest N, take in another store
  symbolize         names for raw addresses in the store, from binaries
  formats           formats read

  --db PATH         store (snapdiff.db; SNAPDIFF_DB; :memory: leaves nothing)
  --metric NAME     what to count (in-use bytes)
  --as text|json|jsonl|csv|md
  --no-color, --version, --help       'snapdiff help COMMAND' has the rest,
                                      'help verdicts' what GROWING means

A command's name wins over a file of that name; ./list is the file.

examples:
  snapdiff heap.0001 heap.0012
  snapdiff render --pdf -o growth.pdf
)";

constexpr std::string_view kVerdicts =
    R"(Verdicts of a series, from 8 snapshots on (below: RISING at the most).

  GROWING     climbs in all of the window, was never half undone, does not slow
              down: at least 95 % of the odds are for it
  RISING      climbs, but the evidence does not reach 95 %, or is of fewer than 8
  SATURATING  rose early and levels off: a cache that fills, a warm-up
  STEP        rose at once, and stayed
  SHRINKING   falls
  NEW, GONE   not there at first; there no more at the end
  NOISY       scatters, or wanders without direction
  FLAT        hardly changes
  minor       changes by less than the floor (0.2 % of the largest snapshot,
              --floor): not judged

A verdict is of the shape over time, not of its cause: whether growth is a leak
is for a person to say.
)";

// Index of the first argument that is neither an option nor the value of one; size() if none.
std::size_t first_word(const Arguments& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") return arguments.size();
    if (argument == "-" || argument.empty() || argument[0] != '-') return i;
    if (takes_value(argument)) ++i;
  }
  return arguments.size();
}

// What other programs call a command.
std::string_view command_for(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kOtherNames = {{{"report", "postmortem"},
                                                                                          {"compare", "diff"},
                                                                                          {"show", "top"},
                                                                                          {"view", "top"},
                                                                                          {"leaks", "trend"},
                                                                                          {"check", "gate"},
                                                                                          {"graph", "render"},
                                                                                          {"plot", "render"},
                                                                                          {"draw", "render"},
                                                                                          {"load", "import"},
                                                                                          {"add", "import"},
                                                                                          {"ls", "list"},
                                                                                          {"remove", "rm"},
                                                                                          {"delete", "rm"},
                                                                                          {"query", "sql"}}};
  const auto* const found =
      std::find_if(kOtherNames.begin(), kOtherNames.end(), [word](const auto& other) { return other.first == word; });
  return found == kOtherNames.end() ? std::string_view() : found->second;
}

/// Whether the store that the arguments choose has a series of this name.
bool is_stored_series(const Arguments& arguments, const std::string& name) {
  Options options;
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (arguments[i] == "--db") options.db = arguments[i + 1];
  }
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--db=")) options.db = argument.substr(5);
  }
  Result<store::Store> store = open_store(choose_store(options), store::Access::read);
  if (!store) return false;
  const Result<std::optional<store::SeriesEnd>> end = store->series_end(name);
  return end && end->has_value();
}

int unknown_word(const std::string& word) {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  std::string near(command_for(word));
  if (near.empty()) near = nearest_word(word, names);
  say_error(Error{ErrorCode::usage, "'" + word + "' is neither a command nor a file"},
            near.empty() ? "see snapdiff --help" : "did you mean: snapdiff " + near);
  return kExitBadInput;
}

// "help diff" is "diff --help"; a topic that is no command is "verdicts".
int help_of(const std::string& word) {
  if (word == "verdicts") return print_data(kVerdicts) ? kExitDone : kExitBadInput;
  for (const Command& command : commands()) {
    if (command.name == word) return command.run({"--help"});
  }
  return unknown_word(word);
}

int run(Arguments arguments) {
  if (arguments.size() > 1 && arguments[0] == "help") return help_of(arguments[1]);
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    return print_data(kHelp) ? (arguments.empty() ? kExitBadInput : kExitDone) : kExitBadInput;
  }
  if (arguments[0] == "--version") return print_data("snapdiff " SNAPDIFF_VERSION "\n") ? kExitDone : kExitBadInput;

  const std::size_t word = first_word(arguments);
  if (word < arguments.size()) {
    for (const Command& command : commands()) {
      if (command.name != arguments[word]) continue;
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(word));
      return command.run(arguments);
    }
    // A word that could be a mistyped command: say so instead of "no such file". Behind an option it may be the value
    // of one that does not exist: then that is to blame, not the word.
    const std::string& text = arguments[word];
    const bool path_like = text.find_first_of("/.@#:*?") != std::string::npos || text == "-";
    std::error_code ignored;
    if (word == 0 && !path_like && !std::filesystem::exists(text, ignored) && !is_stored_series(arguments, text))
      return unknown_word(text);
  }
  return run_diff(arguments);
}

}  // namespace
}  // namespace snapdiff::cli

int main(int argc, char** argv) {
  // Reading symbols must never reach the network by itself; a closed pipe and a file size limit are
  // told by write(), and must not end the process inside a transaction.
  snapdiff::cli::withhold_debuginfod();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return snapdiff::cli::run(snapdiff::cli::Arguments(argv + 1, argv + argc));
  } catch (const std::bad_alloc&) {
    snapdiff::cli::say_error({snapdiff::ErrorCode::limit, "out of memory; try fewer snapshots at once"});
    return snapdiff::cli::kExitBadInput;
  } catch (const std::system_error& failure) {
    // A thread that cannot be had: its stack has no place in memory.
    const bool scarce =
        failure.code() == std::errc::resource_unavailable_try_again || failure.code() == std::errc::not_enough_memory;
    if (scarce) {
      snapdiff::cli::say_error({snapdiff::ErrorCode::limit, "out of memory; try fewer snapshots at once"});
      return snapdiff::cli::kExitBadInput;
    }
    snapdiff::cli::say_error({snapdiff::ErrorCode::internal, failure.what()}, "this is a bug in snapdiff");
    return snapdiff::cli::kExitInternal;
  } catch (const std::exception& failure) {
    snapdiff::cli::say_error({snapdiff::ErrorCode::internal, failure.what()}, "this is a bug in snapdiff");
    return snapdiff::cli::kExitInternal;
  }
}
