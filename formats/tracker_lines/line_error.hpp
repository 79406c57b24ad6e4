#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "snapdiff/result.hpp"

/// What is thrown for a line that is dropped; what ends the reading is a Failure.
namespace snapdiff::formats::tracker_lines {

/// The rules of README.md by number; a violation names one.
enum class Rule : int { place = 1, key = 2, order = 4, graph = 5, end = 6, line = 7, header = 8, duplicate_key = 10 };

/// A line that breaks a rule and is dropped. `text` is the same for all lines of its kind, `detail` says what this one
/// has: "found ..., expected ...".
struct LineError {
  Rule rule = Rule::line;
  std::string text;
  std::string detail;
};

[[noreturn]] inline void fail_line(Rule rule, std::string text, std::string detail = {}) {
  throw LineError{rule, std::move(text), std::move(detail)};
}

}  // namespace snapdiff::formats::tracker_lines
