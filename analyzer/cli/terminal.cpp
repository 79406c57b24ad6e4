#include "analyzer/cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "analyzer/base/environment.hpp"
#include "analyzer/base/failure.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/report/text_tools.hpp"

namespace snapdiff::cli {
namespace {

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string_view::npos || value.find("utf8") != std::string_view::npos ||
           value.find("UTF8") != std::string_view::npos || value.find("utf-8") != std::string_view::npos;
  }
  return false;
}

std::size_t terminal_width(bool stdout_is_terminal) {
  // A pipe or a file has no edge to keep to: wider, so that stacks say more.
  const std::size_t fallback = stdout_is_terminal ? 80 : 120;
  const std::string_view columns = environment("COLUMNS");
  std::size_t width = 0;
  const auto [end, failure] = std::from_chars(columns.data(), columns.data() + columns.size(), width);
  constexpr std::size_t kWidest = 10'000;
  if (failure == std::errc{} && end == columns.data() + columns.size() && width >= 40 && width <= kWidest) return width;
  winsize size{};
  if (stdout_is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
  return fallback;
}

}  // namespace

Terminal look_at_terminal(bool no_color) {
  Terminal terminal;
  terminal.stdout_is_terminal = isatty(STDOUT_FILENO) == 1;
  terminal.stderr_is_terminal = isatty(STDERR_FILENO) == 1;
  terminal.colour =
      terminal.stdout_is_terminal && !no_color && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  terminal.utf8 = locale_is_utf8();
  terminal.width = terminal_width(terminal.stdout_is_terminal);
  return terminal;
}

Status print_data(std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, data.data(), data.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EPIPE) return ok();
      return Error{ErrorCode::io, std::string("cannot write: ") + std::strerror(errno), std::nullopt,
                   "standard output"};
    }
    data.remove_prefix(static_cast<std::size_t>(written));
  }
  return ok();
}

Status print_report(std::string_view data, report::Form form) {
  const bool for_eyes = form == report::Form::text && isatty(STDOUT_FILENO) == 1 && locale_is_utf8();
  return for_eyes ? print_data(report::isolated(data)) : print_data(data);
}

void print_written(const WriteAnswer& write, report::Style style) {
  const report::Sink sink = [](std::string_view piece) { value_or_throw(print_data(piece)); };
  style.sink = &sink;
  value_or_throw(print_report(write(style), style.form));
}

std::optional<bool> ask(std::string_view question) {
  if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) return std::nullopt;
  const std::string text = std::string(question) + " [y/N] ";
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::string answer;
  for (int c = std::getchar(); c != EOF && c != '\n'; c = std::getchar()) answer += static_cast<char>(c);
  return answer == "y" || answer == "Y" || answer == "yes";
}

void say(std::string_view line) {
  std::string text(line);
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void say_at_once(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void say_note(const Note& note) {
  say(std::string(note.severity == Severity::info ? "note: " : "warning: ") + escape_for_terminal(note.text));
}

void say_error(const Error& error, std::string_view advice) {
  const bool bold = isatty(STDERR_FILENO) == 1 && environment("NO_COLOR").empty();
  say((bold ? "\x1b[1merror\x1b[0m: " : "error: ") + escape_for_terminal(words_of(error)));
  if (!advice.empty()) say("       " + std::string(advice));
}

int tell_failure(const Error& error) {
  say_error(error, error.code == ErrorCode::internal ? "this is a bug in snapdiff" : "");
  return exit_code_of(error.code);
}

std::string words_of(const Error& error) {
  // What the user asked for wrongly and what the system refused is said by the message; a store in memory has no name.
  if (error.code != ErrorCode::usage && error.code != ErrorCode::io) return error.text();
  const bool named = !error.subject.empty() && error.subject != ":memory:";
  return (named ? error.subject + ": " : "") + error.message;
}

std::string escape_for_terminal(std::string_view text) { return printable(text); }

}  // namespace snapdiff::cli
