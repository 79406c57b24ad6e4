#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/report/report.hpp"
#include "snapdiff/notes.hpp"
#include "snapdiff/result.hpp"

/// The only place that prints. Data goes to stdout, words to stderr.
namespace snapdiff::cli {

struct Terminal {
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;
  bool colour = false;  ///< of stdout: a terminal, NO_COLOR unset or empty, no --no-color
  bool utf8 = false;    ///< by LC_ALL, LC_CTYPE, LANG
  std::size_t width = 80;
};

/// Looks at the process's streams and environment.
Terminal look_at_terminal(bool no_color);

/// Writes to stdout. A reader that went away (`| head`) is no failure. Errors: io.
Status print_data(std::string_view data);

/// The same of a report: on a terminal that shows UTF-8, a text has marks around names with right-to-left letters.
Status print_report(std::string_view data, report::Form form);

/// A function of analyzer/report with its result, asked for when it can be printed.
using WriteAnswer = std::function<std::string(const report::Style&)>;

/// Prints an answer as its pieces come. Throws io.
void print_written(const WriteAnswer& write, report::Style style);

/// A question on stderr, answered on the standard input: true for "y" or "yes". Nothing if stderr or the standard input
/// is not a terminal.
std::optional<bool> ask(std::string_view question);

/// One line on stderr.
void say(std::string_view line);

/// An error in one line, not yet made harmless: its kind is left out where the message says it.
std::string words_of(const Error& error);

/// "error: TEXT" on stderr; `advice`, where given, on a line of its own below it.
void say_error(const Error& error, std::string_view advice = {});

/// The same of what ends a command; "this is a bug" where it is one of ours. Returns the exit code.
int tell_failure(const Error& error);

/// A remark on stderr: "note: ..." or "warning: ...", made harmless.
void say_note(const Note& note);
/// To standard error, without a buffer: in handlers of signals.
void say_at_once(std::string_view text);

/// Bytes of an input made harmless for a terminal: control characters and bytes that are no valid
/// UTF-8 as \xNN.
std::string escape_for_terminal(std::string_view text);

}  // namespace snapdiff::cli
