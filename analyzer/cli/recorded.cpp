#include "analyzer/cli/recorded.hpp"

#include <algorithm>
#include <string>

#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/written_answer.hpp"

namespace snapdiff::cli {
namespace {

void tell_where(const session::Recorded& done, bool quiet) {
  std::string refs;
  const auto name = [&](std::size_t i) { return "@" + std::to_string(static_cast<std::int64_t>(done.ids[i])); };
  if (done.ids.size() <= 4) {
    for (std::size_t i = 0; i < done.ids.size(); ++i) refs += (i == 0 ? "" : ", ") + name(i);
  } else {
    refs = name(0) + " to " + name(done.ids.size() - 1);
  }
  // Who named a store knows what to do with it.
  const std::string next = done.choice.is_explicit || quiet ? "" : ". Next: snapdiff render --pdf";
  say((done.created ? "created " : "stored in ") + escape_for_terminal(done.choice.path) +
      (done.created ? ": stored as " : " as ") + refs + next);
}

}  // namespace

int finish(session::Recording& recording, const Terminal& terminal) {
  const session::Recorded done = recording.finish(watch_of(terminal));
  if (!done.is_kept) return kExitDone;
  const bool quiet = !terminal.stdout_is_terminal && !terminal.stderr_is_terminal;
  if (!done.status) {
    if (!done.any_file) return kExitDone;  // only the memory of this comparison is missing
    if (done.choice.is_explicit) {
      say_error(done.status.error());
      return exit_code_of(done.status.error().code);
    }
    say("warning: not stored: " + escape_for_terminal(words_of(done.status.error())));
    return kExitDone;
  }
  if (done.created || (done.added && !quiet)) tell_where(done, quiet);
  return kExitDone;
}

int answer_and_finish(const WriteAnswer& write, const report::Style& style, const session::Compared& compared,
                      const Options& options, session::Recording& recording, const Terminal& terminal) {
  recording.answered();
  const Status printed = guarded([&] { show_answer(write, style, options); });
  const int partial_code = tell_notes(compared.loaded, options);
  const int stored_code = finish(recording, terminal);
  value_or_throw(printed);
  return std::max(partial_code, stored_code);
}

}  // namespace snapdiff::cli
