#pragma once

#include <array>

#include "formats/input/byte_window.hpp"

namespace snapdiff::formats::json {

enum class Kind : std::uint8_t { object, array, text, number, boolean, null };

/// Numbers of an array that were read at once, and where each begins, in bytes from the first.
struct NumberRun {
  static constexpr std::size_t kMost = 1024;
  std::array<std::uint64_t, kMost> value;
  std::array<std::uint32_t, kMost> begin;
};

/// Reads JSON (RFC 8259) from the front, one token at a time. Texts are bytes: they need not be valid UTF-8, since
/// paths of files are not. A value that is skipped is checked all the same, without copies and without recursion. A
/// caller that follows values of any shape bounds its own depth with check_depth(). All members throw Failure:
/// malformed and limit at the byte that was found, and what Input returns.
class JsonScanner {
 public:
  static constexpr std::size_t kLongestText = std::size_t{64} << 20;
  static constexpr std::size_t kMostLevels = 1024;  ///< of a value that is skipped

  explicit JsonScanner(Input& in) : bytes_(in) {}

  /// From here on control characters in a text are malformed, as RFC 8259 has it; only damage makes them.
  void refuse_control_characters() { lowest_ = 0x20; }

  std::uint64_t offset() const { return bytes_.offset_of(p_); }
  /// Where the key of the member at hand begins.
  std::uint64_t key_offset() const { return key_offset_; }

  /// Consumes the three bytes that some editors put before UTF-8, where they are the next token.
  void skip_byte_order_mark();

  /// The next byte that is not a blank, not consumed; '\0' at the end of the input.
  char token() {
    if (bytes_.ensure(p_, 1) && !is_blank(*p_)) [[likely]]
      return *p_;
    return token_behind_blanks();
  }
  /// Whether only blanks are left.
  bool at_end() { return token() == '\0' && bytes_.at_end(p_); }
  /// Consumes blanks and NULs, which disks and mail pad with; whether anything follows them.
  bool has_rest();
  /// Consumes the next token, which must be `c`.
  void expect(char c, std::string_view name) {
    if (token() != c) unexpected(name);
    ++p_;
  }
  [[noreturn]] void unexpected(std::string_view expected);
  /// Refuses a value inside `levels` others where that is all there may be.
  void check_depth(std::size_t levels, std::size_t most) const;

  /// What value comes next; refuses what begins none.
  Kind kind();

  /// An integer of at most 10^18 - 1, which begins here or after blanks.
  std::uint64_t number() {
    bytes_.ensure(p_, kLongestNumber);
    const char* p = p_;
    std::uint64_t value = digit(*p);
    if (value > 9) [[unlikely]]
      return number_behind_blanks();
    for (const char* const last = p + kMostDigits;;) {
      const unsigned next = digit(*++p);
      if (next > 9) break;
      if (p == last) [[unlikely]]
        number_too_long();
      value = value * 10 + next;
    }
    p_ = p;
    return value;
  }
  /// Consumes numbers of an array, from one to where another begins: the rows of `width` that are at hand, at most
  /// `most` and perhaps none. Returns how many. A comma, or a line end and a comma, lies between two of these numbers:
  /// number() and next_item() read all other shapes, and refuse what is malformed.
  std::size_t rows(NumberRun& out, std::size_t width, std::uint64_t most);
  /// Consumes a number of at most 400 bytes as it is written; valid until the next call.
  std::string_view number_text();
  bool boolean();
  void null() { word("null"); }

  /// After an item of an array: true when a comma was consumed, false when the end was.
  bool next_item() {
    if (bytes_.ensure(p_, 1) && *p_ == ',') [[likely]] {
      ++p_;
      return true;
    }
    return another(']', ", or ]");
  }

  /// Consumes a text into `out`, with lone surrogates in three bytes each (WTF-8). Of more than `most`
  /// bytes it keeps whole characters below; true when it cut.
  bool text(std::string& out, std::size_t most);
  /// Consumes a text of at most kLongestText.
  void text(std::string& out);
  void skip_text();
  /// Any value.
  void skip_value();

  /// Consumes an object; `member(key)` has to consume the value. Keys are cut as text(key, most_key_bytes) does.
  template <class Member>
  void each_member(Member member, std::size_t most_key_bytes = 64) {
    expect('{', "{");
    if (token() == '}') {
      ++p_;
      return;
    }
    std::string key;
    std::string_view expected = "a key or }";
    do {
      if (token() != '"') unexpected(expected);
      expected = "a key";
      key_offset_ = offset();
      text(key, most_key_bytes);
      expect(':', ":");
      member(std::string_view(key));
    } while (another('}', ", or }"));
  }

  /// Consumes an array; `item(index)` has to consume each value.
  template <class Item>
  void each_item(Item item) {
    expect('[', "[");
    if (token() == ']') {
      ++p_;
      return;
    }
    std::size_t index = 0;
    do {
      token();
      item(index++);
    } while (another(']', ", or ]"));
  }

 private:
  static constexpr std::size_t kLongestNumber = 32;
  static constexpr std::ptrdiff_t kMostDigits = 18;  // 10^18 - 1 < 2^63; the last look is at the 19th digit

  static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  static unsigned digit(char c) { return static_cast<unsigned>(static_cast<unsigned char>(c)) - '0'; }
  char token_behind_blanks();
  bool another(char end, std::string_view expected) {
    const char c = token();
    if (c != ',' && c != end) unexpected(expected);
    ++p_;
    return c == ',';
  }
  std::uint64_t number_behind_blanks();
  [[noreturn]] void number_too_long();
  [[noreturn]] void cut_text(std::uint64_t start);
  void escape(std::string& out);
  unsigned hex4();
  void word(std::string_view word);

  ByteWindow bytes_;
  const char* p_ = nullptr;
  std::uint64_t key_offset_ = 0;
  unsigned char lowest_ = 0;  // of the bytes of a text
};

}  // namespace snapdiff::formats::json
