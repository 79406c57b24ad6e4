#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/cli/command_page.hpp"
#include "analyzer/cli/commands.hpp"
#include "snapdiff/result.hpp"

/// What a command takes, as data: one declaration gives the parser, the help, the manual page and the completions.
/// CLI11, which costs two seconds of compile time wherever it is included, stays inside.
namespace snapdiff::cli {

/// An option of a command. Declared through CommandLine, which keeps it.
class Option {
 public:
  /// Only these words are taken; the nearest one is suggested for another.
  Option& choices(std::vector<std::string> words);
  /// Words that the completions of shells offer; others are taken, too.
  Option& suggestions(std::vector<std::string> words);
  /// Takes the text or says what is wrong with it: "found 'x', expected a day".
  Option& check(std::function<Status(const std::string&)> accepts);
  /// Not beside the option of this name.
  Option& excludes(std::string_view name);
  /// Only beside the option of this name.
  Option& needs(std::string_view name);
  Option& required();
  /// What its value is called in the help, where it is not what the kind of option says.
  Option& called(std::string_view value);

 private:
  friend class CommandLine;
  friend struct CommandParser;

  std::string names_;  // "-n,--rows"
  std::string value_;  // "N"; "" for a flag
  std::string help_;
  std::string group_;
  std::vector<std::string> choices_, excluded_, needed_;
  std::vector<std::function<Status(const std::string&)>> checks_;
  std::function<Status(const std::string&)> take_;  // of a flag: with ""
  bool is_repeatable_ = false;
  bool is_required_ = false;
};

struct CountRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

class CommandLine {
 public:
  /// `usage` goes on after "usage: snapdiff "; its first word that is not in brackets is the command.
  CommandLine(std::string purpose, std::string usage, std::vector<std::string> examples);

  /// `names`: "-n,--rows"; `help` may have several lines.
  Option& flag(std::string_view names, bool& out, std::string_view help);
  Option& text(std::string_view names, std::string_view value, std::string& out, std::string_view help);
  /// May be given several times, with one value each time.
  Option& texts(std::string_view names, std::string_view value, std::vector<std::string>& out, std::string_view help);
  /// A whole number of the range; any other text is refused.
  template <class Number>
  Option& count(std::string_view names, Number& out, CountRange range, std::string_view help) {
    return declare(names, "N", help, [&out, range](const std::string& text) -> Status {
      const Result<std::int64_t> value = parse_count(text, range);
      if (!value) return value.error();
      assign(out, *value);
      return ok();
    });
  }
  /// A size of at least `least` bytes.
  Option& size(std::string_view names, std::optional<std::int64_t>& out, std::int64_t least, std::string_view help);
  /// A time like 500ms, 30s, 5m or 2h.
  Option& duration(std::string_view names, std::optional<std::chrono::milliseconds>& out, std::string_view help);
  /// Heading in the help of the options that are declared from here on: input, filter, symbols, store, output; "" =
  /// those of the command alone.
  void group(std::string_view name) { group_ = name; }
  /// Words that belong to no option go here.
  void operands(std::vector<std::string>& out) { operands_ = &out; }

  /// Parses; nullopt to go on, else the exit code: help was printed, an error was said, or the page of the arguments
  /// was filled in. Words after "--" are operands whatever they look like.
  std::optional<int> parse(const Arguments& arguments);
  /// Whether the last parse() met the option.
  bool is_given(std::string_view name) const;

 private:
  friend struct CommandParser;

  static Result<std::int64_t> parse_count(const std::string& text, CountRange range);
  template <class Number>
  static void assign(Number& out, std::int64_t value) {
    out = static_cast<Number>(value);
  }
  template <class Number>
  static void assign(std::optional<Number>& out, std::int64_t value) {
    out = static_cast<Number>(value);
  }
  Option& declare(std::string_view names, std::string_view value, std::string_view help,
                  std::function<Status(const std::string&)> take);
  CommandPage page() const;
  bool has(std::string_view name) const;
  std::vector<std::string> spelled_out(std::vector<std::string> words) const;

  std::string purpose_, usage_, group_;
  std::vector<std::string> examples_;
  std::deque<Option> options_;  // references to them are given out
  std::vector<std::string>* operands_ = nullptr;
  std::vector<std::string> given_;
};

}  // namespace snapdiff::cli
