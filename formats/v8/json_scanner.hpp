#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/input/byte_window.hpp"

namespace snapdiff::formats::v8 {

/// Reads JSON (RFC 8259) from the front, one token at a time, for a caller that knows the shape. Numbers
/// are unsigned integers. Nothing recurses; what is skipped is skipped without copies. All members throw
/// ReadFailure: malformed, limit.
class JsonScanner {
 public:
  explicit JsonScanner(Input& in) : bytes_(in) {}

  std::uint64_t offset() const { return bytes_.offset_of(p_); }

  /// Consumes the three bytes that some editors put before UTF-8, where they are the next token.
  void skip_byte_order_mark();

  /// The next byte that is no blank, not consumed; '\0' at the end of the input.
  char token();
  /// Consumes the next token, which must be `c`.
  void expect(char c, std::string_view name);
  [[noreturn]] void unexpected(std::string_view expected);

  /// An integer of at most 2^63-1, which begins here or behind blanks.
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

  /// Behind an item of an array: true when a comma was consumed, false when the end was.
  bool next_item() {
    if (*p_ == ',') {  // readable: number() looked further than it consumed
      ++p_;
      return true;
    }
    return next_item_behind_blanks();
  }

  /// Consumes a text into `out`, with lone surrogates in three bytes each (WTF-8). Of more than `most`
  /// bytes it keeps whole characters below; true when it cut.
  bool text(std::string& out, std::size_t most);
  void skip_text();
  /// Any value, at most 1024 levels deep.
  void skip_value();

  /// Consumes an object; `member(key)` has to consume the value.
  template <class Member>
  void each_member(Member member) {
    expect('{', "{");
    if (token() == '}') {
      take();
      return;
    }
    std::string key;
    do {
      if (token() != '"') unexpected("a key");
      text(key, 64);
      expect(':', ":");
      member(std::string_view(key));
    } while (another('}', ", or }"));
  }

  /// Consumes an array; `item(index)` has to consume each value.
  template <class Item>
  void each_item(Item item) {
    expect('[', "[");
    if (token() == ']') {
      take();
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

  static unsigned digit(char c) { return static_cast<unsigned>(static_cast<unsigned char>(c)) - '0'; }
  void take() { ++p_; }
  bool another(char end, std::string_view expected);
  std::uint64_t number_behind_blanks();
  [[noreturn]] void number_too_long();
  bool next_item_behind_blanks();
  void escape(std::string& out);
  unsigned hex4();
  void skip_word(std::string_view word);
  void skip_scalar();

  ByteWindow bytes_;
  const char* p_ = nullptr;
};

}  // namespace snapdiff::formats::v8
