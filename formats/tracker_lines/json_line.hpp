#pragma once

#include "formats/json/json_scanner.hpp"

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

/// The line itself is level 1.
inline constexpr std::size_t kMaxDepth = 8;
/// A stack of a million frames, the most that is read, and what is beside it.
inline constexpr std::size_t kMaxValues = 1'100'000;

enum class JsonKind : std::uint8_t { null, boolean, integer, big, real, text, array, object };

/// One value of a line. What an array or object holds follows it, up to row `end`.
struct JsonValue {
  std::string_view key;  ///< inside an object
  std::string_view text;
  std::int64_t integer = 0;
  double real = 0;        ///< also of `big`, an integer from 2^63 on
  std::uint32_t end = 0;  ///< row of the next value on the same level
  JsonKind kind = JsonKind::null;
  bool truth = false;
};

/// Parses one line after the other, each to its end.
class JsonLine {
 public:
  /// `bytes_behind`: this number of bytes can be read behind the line, which is faster. Throws LineError: rule 7.
  void parse(std::string_view line, std::size_t bytes_behind);

  /// Row 0 is the line's own value. Valid until the next parse().
  const std::vector<JsonValue>& values() const { return values_; }

  /// Whether the last line had bytes that are no UTF-8, or escapes of half a surrogate pair; they are kept as bytes.
  bool repaired() const { return repaired_; }

 private:
  void value(json::JsonScanner& json, std::string_view key, std::size_t depth);
  void number(std::string_view written, JsonValue& out);
  std::string_view kept(std::string_view text);

  std::vector<JsonValue> values_;
  std::string texts_;  // all texts of the line, which has room for them
  std::string scratch_;
  bool has_escapes_ = false, repaired_ = false;
};

}  // namespace snapdiff::formats::tracker_lines
