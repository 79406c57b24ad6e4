#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

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

  /// Takes what `form` says, or nothing. "%" stands for the next field: of a std::int64_t decimal digits without a
  /// sign, of a std::uint64_t hexadecimal ones, of a std::string_view a token; other types have a take_field(Cursor&,
  /// Field&) beside them, as Integer has. "~" stands for any number of blanks, "?" behind a character says that it may
  /// be missing, "$" at the end stands for the end of the line; all else stands for itself.
  template <class... Fields>
  bool takes(std::string_view form, Fields&&... fields) {
    const Cursor begin = *this;
    const bool fits = ((take_up_to_field(form) && take_field(*this, fields)) && ...) && take_up_to_field(form);
    if (!fits) *this = begin;
    return fits;
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
  friend bool take_field(Cursor& at, std::int64_t& out) { return at.count(out); }
  friend bool take_field(Cursor& at, std::uint64_t& out) { return at.hex(out) == Number::ok; }
  friend bool take_field(Cursor& at, std::string_view& out) { return !(out = at.token()).empty(); }

  /// Takes the text that `form` has in front of its next field, which it loses.
  bool take_up_to_field(std::string_view& form) {
    while (!form.empty()) {
      const char c = form.front();
      form.remove_prefix(1);
      if (c == '%') return true;
      const bool may_miss = !form.empty() && form.front() == '?';
      if (may_miss) form.remove_prefix(1);
      if (c == '~') {
        skip_blanks();
      } else if (c == '$' && form.empty()) {
        return at_end();
      } else if (!take(c) && !may_miss) {
        return false;
      }
    }
    return true;
  }

  static constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const char* at_;
  const char* end_;
};

/// The whole of `text` as a number of this type, a whole one in `base`; false where there is more, or it does not fit.
template <class Value, class... Base>
bool parse_whole(std::string_view text, Value& out, Base... base) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out, base...);
  return failure == std::errc{} && end == text.data() + text.size();
}

/// A text of decimal digits alone; nothing beyond 2^63-1.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  Cursor at(text);
  std::int64_t value = 0;
  return at.count(value) && at.at_end() ? std::optional(value) : std::nullopt;
}

/// A field of Cursor::takes() with an optional minus sign.
struct Integer {
  std::int64_t value = 0;
  friend bool take_field(Cursor& at, Integer& out) { return at.decimal(out.value) == Number::ok; }
};

/// Cursor::takes() from the start of `text`.
template <class... Fields>
bool reads(std::string_view text, std::string_view form, Fields&&... fields) {
  return Cursor(text).takes(form, fields...);
}

/// `found` where what read it succeeded.
template <class Found>
std::optional<Found> given(bool fits, const Found& found) {
  return fits ? std::optional(found) : std::nullopt;
}

/// The text after the first `words` of `line`; nothing where it does not hold them.
constexpr std::optional<std::string_view> behind(std::string_view line, std::string_view words) {
  const std::size_t found = line.find(words);
  return found == std::string_view::npos ? std::nullopt : std::optional(line.substr(found + words.size()));
}

/// The number behind the word `name`, which no other word precedes: one of `forms` of Cursor::takes() is what follows
/// it. Nothing where the line has none.
inline std::optional<std::int64_t> number_of(std::string_view line, std::string_view name,
                                             std::initializer_list<std::string_view> forms) {
  for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    if (at > 0 && is_word(line[at - 1])) continue;
    for (const std::string_view form : forms) {
      if (Integer found; reads(line.substr(at + name.size()), form, found)) return found.value;
    }
  }
  return std::nullopt;
}

/// "18552:" alone on a line, which jcmd writes in front of each report.
inline std::optional<std::int64_t> pid_line(std::string_view line) {
  std::int64_t pid = 0;
  return given(reads(line, "~%:$", pid), pid);
}

/// The `kCount` words of a text, which has a blank behind each of them.
template <std::size_t kCount>
consteval std::array<std::string_view, kCount> words_in(std::string_view text) {
  std::array<std::string_view, kCount> out;
  for (std::string_view& word : out) {
    word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() + 1);
  }
  return text.empty() ? out : throw "another number of words";
}

/// Whether `word`, which has no blanks, is one of `words`, which have a blank behind each of them.
constexpr bool is_one_of(std::string_view word, std::string_view words) {
  for (std::size_t at = words.find(word); at != std::string_view::npos && !word.empty();
       at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && end < words.size() && words[end] == ' ') return true;
  }
  return false;
}

/// The words of a line between its blanks.
inline std::vector<std::string_view> words_of_line(std::string_view line) {
  std::vector<std::string_view> out;
  Cursor at(line);
  for (at.skip_blanks(); !at.at_end(); at.skip_blanks()) out.push_back(at.token());
  return out;
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

/// Decimal digits with or without a comma between groups, "5,760" and "5760", as Valgrind's programs print them. False
/// where none is there or it is beyond 2^63-1; the cursor may then have moved.
inline bool take_grouped(Cursor& at, std::int64_t& out) {
  if (!is_digit(at.peek())) return false;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t value = 0;
  for (;;) {
    const char c = at.peek();
    if (is_digit(c)) {
      const auto digit = static_cast<std::uint64_t>(c - '0');
      if (value > (kMost - digit) / 10) return false;
      value = value * 10 + digit;
    } else if (c != ',' || !is_digit(at.left() > 1 ? at.rest()[1] : '\0')) {
      break;
    }
    at.take(c);
  }
  out = static_cast<std::int64_t>(value);
  return true;
}

}  // namespace snapdiff::formats::text
