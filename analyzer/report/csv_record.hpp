#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/report/text_tools.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::report {

/// Appends a text with a mark before each mark in it, and before each `other`.
inline void append_marked(std::string& out, std::string_view text, char mark, char other) {
  for (const char *at = text.data(), *const end = at + text.size(); at != end;) {
    const char* const special = std::find_if(at + 1, end, [&](char c) { return c == mark || c == other; });
    if (*at == mark || *at == other) out += mark;
    out.append(at, special);
    at = special;
  }
}

/// One record of RFC 4180 (CRLF, quotes doubled).
class Record {
 public:
  explicit Record(std::string& out) : out_(out) {}
  ~Record() { out_ += "\r\n"; }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  void number(std::int64_t value) { append(value); }
  void number_if(bool known, std::int64_t value) { known ? number(value) : empty(); }
  /// Empty where it is not known.
  void number(double value) { std::isfinite(value) ? append(value) : empty(); }
  /// Before, after, growth.
  void change(const Change& value) {
    number(value.baseline);
    number(value.current);
    number(value.growth());
  }
  void empty(std::size_t count = 1) {
    for (; count > 0; --count) separate();
  }
  /// A number that is text already.
  void digits(std::string_view number) {
    separate();
    out_ += number;
  }

  /// Text made safe twice: control characters and invalid UTF-8 as \xNN, and an apostrophe before
  /// what a spreadsheet would run as a formula.
  void text(std::string_view raw) {
    separate();
    std::string cell = printable(raw);
    if (!cell.empty() && std::string_view("=+-@").find(cell[0]) != std::string_view::npos) cell.insert(0, 1, '\'');
    const bool quoted = cell.find('"') != std::string::npos || cell.find(',') != std::string::npos;
    if (quoted) out_ += '"';
    append_marked(out_, cell, '"', '"');
    if (quoted) out_ += '"';
  }

 private:
  template <class Number>
  void append(Number value) {
    separate();
    append_number(out_, value);
  }
  void separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  std::string& out_;
  bool first_ = true;
};

/// ",value_1,value_2": a column for each snapshot.
inline std::string value_columns(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += ",value_" + std::to_string(i + 1);
  return text;
}

}  // namespace snapdiff::report
