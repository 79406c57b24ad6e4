#pragma once

#include <re2/re2.h>

#include <string>

#include "formats/text/scan.hpp"

namespace snapdiff::formats::text {

inline re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view view(const re2::StringPiece& text) { return {text.data(), text.size()}; }

/// Latin-1: every byte is a character, so that invalid UTF-8 matches as well.
inline RE2::Options byte_options() {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  return options;
}

/// An expression of RE2 for a line that Cursor::takes() cannot say. A match takes some 0.3 us: for lines of short
/// reports, and behind a test that few lines pass.
class Pattern {
 public:
  explicit Pattern(const char* expression) : expression_(expression, byte_options()) {}

  /// Whether `line` holds it. Its groups go to `fields`: decimal digits to a std::int64_t, hexadecimal ones to a
  /// std::uint64_t, any text to a std::string_view. A group that took no part leaves its field as it is. False as well
  /// where a number does not fit.
  template <class... Fields>
  bool in(std::string_view line, Fields&... fields) const {
    constexpr int kGroups = static_cast<int>(sizeof...(Fields)) + 1;
    std::array<re2::StringPiece, sizeof...(Fields) + 1> found;
    if (!expression_.Match(piece(line), 0, line.size(), RE2::UNANCHORED, found.data(), kGroups)) return false;
    std::size_t group = 0;
    return ((found[++group].data() == nullptr || set(fields, view(found[group]))) && ...);
  }

 private:
  static bool set(std::string_view& out, std::string_view text) {
    out = text;
    return true;
  }
  static bool set(std::int64_t& out, std::string_view text) { return parse_whole(text, out); }
  static bool set(std::uint64_t& out, std::string_view text) { return parse_whole(text, out, 16); }

  RE2 expression_;
};

}  // namespace snapdiff::formats::text
