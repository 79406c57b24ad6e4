#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>

/// Numbers and blanks on views, without copies. Everything here is bounded by the view.
namespace snapdiff::formats::text {

inline constexpr std::array<std::int8_t, 256> kHexValue = [] {
  std::array<std::int8_t, 256> table{};
  for (auto& entry : table) entry = -1;
  for (int i = 0; i < 10; ++i) table[static_cast<std::size_t>('0' + i)] = static_cast<std::int8_t>(i);
  for (int i = 0; i < 6; ++i) {
    table[static_cast<std::size_t>('a' + i)] = static_cast<std::int8_t>(10 + i);
    table[static_cast<std::size_t>('A' + i)] = static_cast<std::int8_t>(10 + i);
  }
  return table;
}();

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
constexpr bool is_hex(char c) { return kHexValue[static_cast<unsigned char>(c)] >= 0; }

constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

enum class Number : std::uint8_t { ok, none, too_big };

/// Reads one line from the left.
class Cursor {
 public:
  explicit Cursor(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

  bool at_end() const { return at_ == end_; }
  char peek() const { return at_ == end_ ? '\0' : *at_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  std::string_view rest() const { return {at_, left()}; }
  const char* position() const { return at_; }

  /// True when at least one blank was there.
  bool skip_blanks() {
    const char* const begin = at_;
    while (at_ != end_ && is_blank(*at_)) ++at_;
    return at_ != begin;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view text) {
    if (left() < text.size() || std::string_view(at_, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }
  /// Up to the next blank.
  std::string_view token() {
    const char* const begin = at_;
    while (at_ != end_ && !is_blank(*at_)) ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }

  /// The digits up to the next other byte, which may be none.
  std::string_view digits() {
    const char* const begin = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }

  /// Decimal digits without a sign; false as well where they do not fit. On failure the cursor has moved.
  bool count(std::int64_t& out) { return is_digit(peek()) && decimal(out) == Number::ok; }

  /// Decimal, with an optional minus sign. On failure the cursor has moved.
  Number decimal(std::int64_t& out) {
    const bool negative = take('-');
    if (at_ == end_ || !is_digit(*at_)) return Number::none;
    std::uint64_t value = 0;
    bool too_big = false;
    for (; at_ != end_ && is_digit(*at_); ++at_) {
      const auto digit = static_cast<std::uint64_t>(*at_ - '0');
      if (value > (kMax - digit) / 10) too_big = true;
      value = value * 10 + digit;
    }
    if (too_big) return Number::too_big;
    out = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
    return Number::ok;
  }

  /// Hexadecimal digits without prefix; more than 16 significant ones are too_big.
  Number hex(std::uint64_t& out) {
    const char* const begin = at_;
    std::uint64_t value = 0;
    std::uint64_t lost = 0;
    // Four at a time: no step waits for the one before.
    while (left() >= 4) {
      const int a = kHexValue[static_cast<unsigned char>(at_[0])];
      const int b = kHexValue[static_cast<unsigned char>(at_[1])];
      const int c = kHexValue[static_cast<unsigned char>(at_[2])];
      const int d = kHexValue[static_cast<unsigned char>(at_[3])];
      if ((a | b | c | d) < 0) break;
      lost |= value >> 48;
      value = value << 16 | static_cast<std::uint64_t>(a << 12 | b << 8 | c << 4 | d);
      at_ += 4;
    }
    for (; at_ != end_; ++at_) {
      const std::int8_t digit = kHexValue[static_cast<unsigned char>(*at_)];
      if (digit < 0) break;
      lost |= value >> 60;
      value = value << 4 | static_cast<std::uint64_t>(digit);
    }
    if (at_ == begin) return Number::none;
    if (lost != 0) return Number::too_big;
    out = value;
    return Number::ok;
  }

 private:
  static constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const char* at_;
  const char* end_;
};

/// A text of decimal digits alone; nothing beyond 2^63-1.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  Cursor at(text);
  std::int64_t value = 0;
  return at.count(value) && at.at_end() ? std::optional(value) : std::nullopt;
}

constexpr bool has_prefix(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// Whether `head` begins with these texts, blanks and line ends between them and a byte order mark before them apart.
constexpr bool begins_with(std::string_view head, std::initializer_list<std::string_view> tokens) {
  if (has_prefix(head, kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  for (const std::string_view token : tokens) {
    const std::size_t blanks = head.find_first_not_of(" \t\r\n");
    if (blanks == std::string_view::npos || !has_prefix(head.substr(blanks), token)) return false;
    head.remove_prefix(blanks + token.size());
  }
  return true;
}

}  // namespace snapdiff::formats::text
