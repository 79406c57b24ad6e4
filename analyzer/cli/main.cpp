#include <unistd.h>

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

#include "analyzer/base/failure.hpp"
#include "analyzer/base/nearest.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/spill.hpp"
#include "analyzer/cli/command_page.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/options.hpp"
#include "analyzer/cli/process_memory.hpp"
#include "analyzer/cli/terminal.hpp"
#include "analyzer/document/terms.hpp"
#include "analyzer/session/load.hpp"
#include "analyzer/session/naming.hpp"

namespace snapdiff::cli {

namespace {

using Words = std::vector<std::string>;

// Of every command; asked for only where an option is before the command's name.
std::vector<std::string> options_with_value() {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    for (const CommandPage::Option& option : page_of(command).options) {
      if (!option.value.empty()) names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  return names;
}

// Index of the first argument that is neither an option nor the value of one; size() if none.
std::size_t first_word(const Words& arguments) {
  std::vector<std::string> with_value;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") return arguments.size();
    if (argument == "-" || argument.empty() || argument[0] != '-') return i;
    if (with_value.empty()) with_value = options_with_value();
    if (std::find(with_value.begin(), with_value.end(), argument) != with_value.end()) ++i;
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
bool is_stored_series(const Words& arguments, const std::string& name) {
  Options options;
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (arguments[i] == "--db") options.db = arguments[i + 1];
  }
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--db=")) options.db = argument.substr(5);
  }
  Result<store::Store> store = session::open_store(session::choose_store(options.db), store::Access::read);
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

int print_help(std::string_view text) {
  value_or_throw(print_data(text));
  return kExitDone;
}

// "help diff" is "diff --help"; a topic that is no command is "verdicts".
int help_of(const std::string& word) {
  if (word == "verdicts") return print_help(document::verdict_help());
  if (word == "--all" || word == "all") return print_help(overview());
  for (const Command& command : commands()) {
    if (command.name == word) return command.run({{"--help"}});
  }
  return unknown_word(word);
}

int run(Words arguments) {
  const bool all = arguments.size() > 1 && arguments[0] == "--help" && arguments[1] == "--all";
  if (all || (arguments.size() > 1 && arguments[0] == "help")) return help_of(arguments[1]);
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    const int printed = print_help(everyday_help());
    return arguments.empty() ? kExitBadInput : printed;
  }
  if (arguments[0] == "--version") return print_help("snapdiff " SNAPDIFF_VERSION "\n");

  const std::size_t word = first_word(arguments);
  if (word < arguments.size()) {
    for (const Command& command : commands()) {
      if (command.name != arguments[word]) continue;
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(word));
      return command.run({arguments});
    }
    // A word that could be a mistyped command: say so instead of "no such file". Behind an option it may be the value
    // of one that does not exist: then that is to blame, not the word.
    const std::string& text = arguments[word];
    const bool path_like = text.find_first_of("/.@#:*?") != std::string::npos || text == "-";
    std::error_code ignored;
    if (word == 0 && !path_like && !std::filesystem::exists(text, ignored) && !is_stored_series(arguments, text))
      return unknown_word(text);
  }
  return run_diff({arguments});
}

/// Columns that did not fit in memory: the command took longer than with more of it.
void tell_spilled() {
  const spill::Used used = spill::most_used();
  if (used.file_bytes == 0) return;
  const auto text = [](std::uint64_t bytes) { return bytes_text(static_cast<std::int64_t>(bytes)); };
  say_note({Severity::info, text(used.file_bytes) + " beyond --memory " + text(used.limit) + " lay in a file in " +
                                std::string(used.folder)});
}

/// What no command caught.
int run_and_tell(Words arguments) {
  const Error out_of_memory{ErrorCode::limit, "out of memory; try fewer snapshots at once"};
  try {
    return run(std::move(arguments));
  } catch (const Failure& failure) {
    return tell_failure(failure.error);
  } catch (const std::bad_alloc&) {
    return tell_failure(out_of_memory);
  } catch (const std::system_error& failure) {
    // A thread that cannot be had: its stack has no place in memory.
    const bool scarce =
        failure.code() == std::errc::resource_unavailable_try_again || failure.code() == std::errc::not_enough_memory;
    return tell_failure(scarce ? out_of_memory : Error{ErrorCode::internal, failure.what()});
  } catch (const std::exception& failure) {
    return tell_failure({ErrorCode::internal, failure.what()});
  }
}

}  // namespace
}  // namespace snapdiff::cli

/// A mapped file that somebody cuts short while it is read: its pages are gone. Outputs are put in place whole, so
/// that none is left half written.
static void end_of_cut_file(int) {
  snapdiff::cli::say_at_once(
      "error: io: a file was cut short while it was read; try again when nothing writes to it\n");
  _exit(snapdiff::cli::kExitBadInput);
}

int main(int argc, char** argv) {
  snapdiff::cli::keep_heap_together();
  // Reading symbols must never reach the network by itself; a closed pipe and a file size limit are
  // told by write(), and must not end the process inside a transaction.
  snapdiff::session::withhold_debuginfod();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGBUS, end_of_cut_file);
  const int code = snapdiff::cli::run_and_tell({argv + 1, argv + argc});
  if (code != snapdiff::cli::kExitBadInput) snapdiff::cli::tell_spilled();
  return code;
}
