#pragma once

#include "formats/input/utf8.hpp"
#include "formats/input/window_input.hpp"
#include "formats/json/json_scanner.hpp"
#include "formats/text/scan.hpp"

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
  void parse(std::string_view line, std::size_t bytes_behind) {
    // The scanner is slower where its window ends within a number or a text.
    constexpr std::size_t kLookAhead = 512;
    values_.clear();
    texts_.clear();
    texts_.reserve(line.size());  // an escape is longer than the bytes that it stands for
    has_escapes_ = line.find('\\') != std::string_view::npos;
    repaired_ = !is_utf8(line);
    try {
      MemoryInput in({line.data(), line.size() + std::min(bytes_behind, kLookAhead)}, {});
      json::JsonScanner json(in);
      json.refuse_control_characters();
      value(json, {}, 1);
      const auto end = static_cast<std::size_t>(json.offset());
      if (end > line.size() || line.find_first_not_of(" \t\r", end) != std::string_view::npos)
        json.unexpected("the end of the line");
    } catch (const Failure& failure) {
      fail_line(Rule::line, "invalid JSON", failure.error.message);
    }
  }

  /// Row 0 is the line's own value. Valid until the next parse().
  const std::vector<JsonValue>& values() const { return values_; }

  /// Whether the last line had bytes that are no UTF-8, or escapes of half a surrogate pair; they are kept as bytes.
  bool repaired() const { return repaired_; }

 private:
  /// Puts a value and all below it in a row.
  void value(json::JsonScanner& json, std::string_view key, std::size_t depth) {
    if (values_.size() == kMaxValues) fail_line(Rule::line, "more than 1100000 values");
    const std::size_t row = values_.size();
    values_.emplace_back().key = key;
    JsonValue& value = values_[row];
    switch (json.kind()) {
      case json::Kind::text:
        value.kind = JsonKind::text;
        json.text(scratch_);
        value.text = kept(scratch_);
        break;
      case json::Kind::number: number(json.number_text(), value); break;
      case json::Kind::boolean:
        value.kind = JsonKind::boolean;
        value.truth = json.boolean();
        break;
      case json::Kind::null: json.null(); break;
      case json::Kind::array:
        value.kind = JsonKind::array;
        if (depth > kMaxDepth) fail_line(Rule::line, "nested deeper than 8 levels");
        json.each_item([&](std::size_t) { this->value(json, {}, depth + 1); });
        break;
      case json::Kind::object:
        value.kind = JsonKind::object;
        if (depth > kMaxDepth) fail_line(Rule::line, "nested deeper than 8 levels");
        json.each_member([&](std::string_view name) { this->value(json, kept(name), depth + 1); },
                         json::JsonScanner::kLongestText);
        break;
    }
    values_[row].end = static_cast<std::uint32_t>(values_.size());
  }

  void number(std::string_view written, JsonValue& out) {
    std::uint64_t big = 0;
    if (text::parse_whole(written, out.integer)) {
      out.kind = JsonKind::integer;
    } else if (text::parse_whole(written, big)) {
      out.kind = JsonKind::big;
      out.real = static_cast<double>(big);
    } else if (written.find_first_of(".eE") != std::string_view::npos && text::parse_whole(written, out.real)) {
      out.kind = JsonKind::real;
    } else {
      fail_line(Rule::line, "invalid JSON: a number beyond 64 bits");
    }
  }

  /// A copy that lives as long as the line. Python's surrogateescape writes the bytes 80 to FF as U+DC80 to U+DCFF;
  /// other halves of a pair become U+FFFD.
  std::string_view kept(std::string_view text) {
    const std::size_t begin = texts_.size();
    if (!has_escapes_) {
      texts_.append(text);
      return {texts_.data() + begin, text.size()};
    }
    while (!text.empty()) {
      const std::size_t half = text.find('\xed');
      if (half == std::string_view::npos || half + 2 >= text.size()) break;
      texts_.append(text.substr(0, half));
      const unsigned code = 0xd000U | (static_cast<unsigned char>(text[half + 1]) & 0x3fU) << 6U |
                            (static_cast<unsigned char>(text[half + 2]) & 0x3fU);
      const bool is_half = code >= 0xd800;
      repaired_ = repaired_ || is_half;
      if (code >= 0xdc80 && code <= 0xdcff) {
        texts_ += static_cast<char>(code & 0xffU);
      } else {
        texts_.append(is_half ? "\xef\xbf\xbd" : text.substr(half, 3));
      }
      text.remove_prefix(half + 3);
    }
    texts_.append(text);
    return std::string_view(texts_).substr(begin);
  }

  std::vector<JsonValue> values_;
  std::string texts_;  // all texts of the line, which has room for them
  std::string scratch_;
  bool has_escapes_ = false, repaired_ = false;
};

}  // namespace snapdiff::formats::tracker_lines
