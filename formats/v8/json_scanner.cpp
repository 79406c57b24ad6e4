#include "formats/v8/json_scanner.hpp"

#include <algorithm>
#include <cstring>

#include "formats/input/read_failure.hpp"

namespace snapdiff::formats::v8 {
namespace {

// V8's own nesting is 4; trees of allocation stacks (trace_tree) have two levels for each of their 64 frames.
constexpr std::size_t kMostDepth = 1024;
constexpr std::size_t kLongestNumberText = 400;

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

bool is_number(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; }

void append_code_point(std::string& out, unsigned code) {
  const auto byte = [&](unsigned value) { out += static_cast<char>(static_cast<unsigned char>(value)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0U | (code >> 6));
    byte(0x80U | (code & 63U));
  } else if (code < 0x10000) {
    byte(0xe0U | (code >> 12));
    byte(0x80U | ((code >> 6) & 63U));
    byte(0x80U | (code & 63U));
  } else {
    byte(0xf0U | (code >> 18));
    byte(0x80U | ((code >> 12) & 63U));
    byte(0x80U | ((code >> 6) & 63U));
    byte(0x80U | (code & 63U));
  }
}

}  // namespace

char JsonScanner::token() {
  for (;;) {
    if (!bytes_.ensure(p_, 1)) return '\0';
    if (!is_blank(*p_)) return *p_;
    ++p_;
  }
}

void JsonScanner::skip_byte_order_mark() {
  if (bytes_.ensure(p_, 3) && std::string_view(p_, 3) == "\xef\xbb\xbf") p_ += 3;
}

void JsonScanner::expect(char c, std::string_view name) {
  if (token() != c || bytes_.at_end(p_)) unexpected(name);
  ++p_;
}

void JsonScanner::unexpected(std::string_view expected) {
  const char c = token();
  if (bytes_.at_end(p_)) fail_malformed("truncated: the input ends, expected " + std::string(expected), offset());
  const std::string found(1, c >= 0x20 && c < 0x7f ? c : '?');
  fail_malformed("malformed JSON: found '" + found + "', expected " + std::string(expected), offset());
}

std::uint64_t JsonScanner::number_behind_blanks() {
  const char c = token();
  if (c < '0' || c > '9') unexpected("an integer that is not negative");
  return number();
}

void JsonScanner::number_too_long() {
  fail_malformed("number too large: found more than 18 digits, expected it below 10^18", offset());
}

bool JsonScanner::next_item_behind_blanks() { return another(']', ", or ]"); }

bool JsonScanner::another(char end, std::string_view expected) {
  const char c = token();
  if (c != ',' && c != end) unexpected(expected);
  ++p_;
  return c == ',';
}

unsigned JsonScanner::hex4() {
  if (!bytes_.ensure(p_, 4)) fail_malformed("truncated: the input ends within a text", offset());
  unsigned code = 0;
  for (int i = 0; i < 4; ++i, ++p_) {
    const char c = *p_;
    const unsigned lower = static_cast<unsigned char>(c) | 0x20U;
    if (digit(c) <= 9) {
      code = code * 16 + digit(c);
    } else if (lower >= 'a' && lower <= 'f') {
      code = code * 16 + (lower - 'a' + 10);
    } else {
      unexpected("four hexadecimal digits");
    }
  }
  return code;
}

/// Behind a backslash.
void JsonScanner::escape(std::string& out) {
  if (!bytes_.ensure(p_, 1)) fail_malformed("truncated: the input ends within a text", offset());
  const char c = *p_++;
  switch (c) {
    case 'n': out += '\n'; return;
    case 't': out += '\t'; return;
    case 'r': out += '\r'; return;
    case 'b': out += '\b'; return;
    case 'f': out += '\f'; return;
    case '"':
    case '\\':
    case '/': out += c; return;
    case 'u': break;
    default: --p_; unexpected("an escape");
  }
  unsigned code = hex4();
  const bool high = code >= 0xd800 && code < 0xdc00;
  if (high && bytes_.ensure(p_, 6) && p_[0] == '\\' && p_[1] == 'u') {
    const char* const back = p_;
    p_ += 2;
    const unsigned low = hex4();  // within the six bytes: the window does not move
    if (low >= 0xdc00 && low < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else {
      p_ = back;
    }
  }
  append_code_point(out, code);
}

bool JsonScanner::text(std::string& out, std::size_t most) {
  const std::uint64_t start = offset();
  expect('"', "a text");
  out.clear();
  for (;;) {
    if (!bytes_.ensure(p_, 1)) fail_malformed("truncated: the input ends within a text", start);
    const char* q = p_;
    while (q != bytes_.end() && *q != '"' && *q != '\\') ++q;
    const std::size_t room = most + 8 > out.size() ? most + 8 - out.size() : 0;
    out.append(p_, std::min(static_cast<std::size_t>(q - p_), room));
    p_ = q;
    if (q == bytes_.end()) continue;
    ++p_;
    if (*q == '"') break;
    if (out.size() < most + 8) {
      escape(out);
    } else {
      std::string ignored;
      escape(ignored);
    }
  }
  if (out.size() <= most) return false;
  std::size_t keep = most;
  while (keep > 0 && is_continuation(out[keep])) --keep;
  out.resize(keep);
  return true;
}

void JsonScanner::skip_text() {
  const std::uint64_t start = offset();
  expect('"', "a text");
  for (;;) {
    if (!bytes_.ensure(p_, 2)) {
      if (!bytes_.at_end(p_) && *p_ == '"') break;
      fail_malformed("truncated: the input ends within a text", start);
    }
    const auto here = static_cast<std::size_t>(bytes_.end() - p_);
    const auto* quote = static_cast<const char*>(std::memchr(p_, '"', here));
    const char* const limit = quote != nullptr ? quote : bytes_.end();
    // Escapes before the quote; a backslash as the last byte of the window waits for more of it.
    for (;;) {
      const auto* slash = static_cast<const char*>(std::memchr(p_, '\\', static_cast<std::size_t>(limit - p_)));
      if (slash == nullptr) {
        p_ = limit;
        break;
      }
      p_ = slash;
      if (bytes_.end() - slash < 2) break;
      p_ = slash + 2;
      if (p_ > limit) break;
    }
    if (p_ == quote) break;
  }
  ++p_;
}

void JsonScanner::skip_word(std::string_view word) {
  for (const char c : word) {
    if (!bytes_.ensure(p_, 1) || *p_ != c) unexpected(word);
    ++p_;
  }
}

void JsonScanner::skip_scalar() {
  const std::uint64_t start = offset();
  const char first = token();
  if (first == 't') return skip_word("true");
  if (first == 'f') return skip_word("false");
  if (first == 'n') return skip_word("null");
  if (first != '-' && digit(first) > 9) unexpected("a value");
  std::size_t size = 0;
  while (bytes_.ensure(p_, 1) && is_number(*p_)) {
    ++p_;
    if (++size > kLongestNumberText) fail_malformed("malformed JSON: number too long", start);
  }
}

void JsonScanner::skip_value() {
  std::string open;
  const auto key = [&] {
    if (token() != '"') unexpected("a key");
    skip_text();
    expect(':', ":");
  };
  for (;;) {
    const char c = token();
    if (c == '{' || c == '[') {
      if (open.size() == kMostDepth) fail_malformed("nested too deeply: expected at most 1024 levels", offset());
      open += c;
      ++p_;
      if (token() != (c == '{' ? '}' : ']')) {
        if (c == '{') key();
        continue;
      }
      ++p_;
      open.pop_back();
    } else if (c == '"') {
      skip_text();
    } else {
      skip_scalar();
    }
    for (;;) {
      if (open.empty()) return;
      const bool object = open.back() == '{';
      if (another(object ? '}' : ']', object ? ", or }" : ", or ]")) {
        if (object) key();
        break;
      }
      open.pop_back();
    }
  }
}

}  // namespace snapdiff::formats::v8
