#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/symbols/rust_demangle.hpp"
#include "analyzer/symbols/rust_text.hpp"

namespace snapdiff::symbols {

constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/// The text of a name of RFC 2603 and what is printed of it: characters, numbers, identifiers, back references. After
/// a failure nothing is read or printed any more.
class V0Cursor {
 public:
  explicit V0Cursor(std::string_view text) : text_(text) {}

 protected:
  struct Identifier {
    std::string_view text;
    bool punycode = false;
  };

  void fail() { ok_ = false; }
  char peek() const { return ok_ && at_ < text_.size() ? text_[at_] : '\0'; }
  char next() {
    if (!ok_ || at_ >= text_.size()) {
      fail();
      return '\0';
    }
    return text_[at_++];
  }
  bool eat(char c) {
    if (peek() != c || c == '\0') return false;
    ++at_;
    return true;
  }
  void print(std::string_view text) {
    if (silent_ || !ok_) return;
    if (out_.size() + text.size() > kMaxRustOutput) return fail();
    out_ += text;
  }

  std::uint64_t base62() {
    if (eat('_')) return 0;
    std::uint64_t value = 0;
    while (!eat('_')) {
      const char c = next();
      std::uint64_t digit = 0;
      if (is_digit(c)) {
        digit = static_cast<std::uint64_t>(c - '0');
      } else if (is_lower(c)) {
        digit = static_cast<std::uint64_t>(c - 'a') + 10;
      } else if (is_upper(c)) {
        digit = static_cast<std::uint64_t>(c - 'A') + 36;
      } else {
        fail();
        return 0;
      }
      if (value > (~std::uint64_t{0} - digit) / 62) {
        fail();
        return 0;
      }
      value = value * 62 + digit;
    }
    return value + 1;
  }
  std::uint64_t optional_base62(char tag) { return eat(tag) ? base62() + 1 : 0; }

  Identifier identifier() {
    Identifier out;
    out.punycode = eat('u');
    if (!is_digit(peek())) {
      fail();
      return out;
    }
    std::size_t length = 0;
    if (!eat('0')) {
      while (is_digit(peek()) && length <= text_.size()) length = length * 10 + static_cast<std::size_t>(next() - '0');
    }
    eat('_');
    if (!ok_ || length > text_.size() - at_) {
      fail();
      return out;
    }
    out.text = text_.substr(at_, length);
    at_ += length;
    return out;
  }
  void print(const Identifier& name) {
    if (silent_ || !ok_) return;
    if (!name.punycode) return print(name.text);
    std::string decoded;
    if (append_punycode(decoded, name.text)) {
      print(decoded);
    } else {
      print("punycode{");
      print(name.text);
      print("}");
    }
  }

  /// Runs `read` at the place that a back reference names; the tag 'B' is already read.
  template <class Read>
  void back_reference(Read read) {
    const std::size_t tag = at_ - 1;
    const std::uint64_t target = base62();
    if (!ok_ || target >= tag) return fail();
    if (silent_) return;  // nothing to print: the place was read before
    const std::size_t after = at_;
    at_ = static_cast<std::size_t>(target);
    read();
    at_ = after;
  }

  class Deeper {
   public:
    explicit Deeper(V0Cursor& reader) : reader_(reader) {
      if (++reader_.depth_ > kMaxRustDepth || ++reader_.steps_ > kMaxRustOutput) reader_.fail();
    }
    ~Deeper() { --reader_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    V0Cursor& reader_;
  };

  /// What `read` reads, again and again up to 'E', with `separator` printed between; how often.
  template <class Read>
  std::size_t list(std::string_view separator, Read read) {
    std::size_t count = 0;
    for (; ok_ && !eat('E'); ++count) {
      if (count > 0) print(separator);
      read();
    }
    return count;
  }

  /// The hexadecimal digits up to '_'.
  std::string_view hex_digits() {
    const std::size_t start = at_;
    while (is_digit(peek()) || (peek() >= 'a' && peek() <= 'f')) ++at_;
    const std::string_view digits = text_.substr(start, at_ - start);
    if (!eat('_')) fail();
    return digits;
  }
  static std::optional<std::uint64_t> value_of(std::string_view digits) {
    while (!digits.empty() && digits[0] == '0') digits.remove_prefix(1);
    if (digits.size() > 16) return std::nullopt;
    std::uint64_t value = 0;
    for (const char c : digits) value = value * 16 + static_cast<std::uint64_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
    return value;
  }

  std::string_view text_;
  std::string out_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t steps_ = 0;
  bool silent_ = false;
  bool ok_ = true;
};

}  // namespace snapdiff::symbols
