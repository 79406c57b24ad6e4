#include "formats/valgrind/json_tokens.hpp"

#include <charconv>
#include <system_error>
#include <utility>

#include "formats/input/read_failure.hpp"
#include "formats/text/in_quotes.hpp"

namespace snapdiff::formats::valgrind {
namespace {

constexpr std::size_t kLongestNumber = 400;

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_number(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; }

/// RFC 8259: -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
bool is_json_number(std::string_view t) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t begin = i;
    while (i < t.size() && t[i] >= '0' && t[i] <= '9') ++i;
    return i - begin;
  };
  if (i < t.size() && t[i] == '-') ++i;
  const std::size_t begin = i;
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && t[begin] == '0')) return false;
  if (i < t.size() && t[i] == '.') {
    ++i;
    if (digits() == 0) return false;
  }
  if (i < t.size() && (t[i] == 'e' || t[i] == 'E')) {
    ++i;
    if (i < t.size() && (t[i] == '+' || t[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == t.size();
}

}  // namespace

char JsonTokens::peek() {
  if (at_ == window_.size()) {
    in_.consume(at_);
    at_ = 0;
    window_ = value_or_throw(in_.peek(1));
    if (window_.empty()) return '\0';
  }
  return window_[at_];
}

char JsonTokens::skip_blanks() {
  char c = peek();
  while (is_blank(c)) {
    advance();
    c = peek();
  }
  return c;
}

void JsonTokens::unexpected(std::string_view expected) {
  const char c = peek();
  if (window_.empty()) fail_malformed("JSON ends early: expected " + std::string(expected), here());
  fail_malformed(
      "malformed JSON: found " + text::in_quotes(std::string_view(&c, 1)) + ", expected " + std::string(expected),
      here());
}

JsonTokens::Kind JsonTokens::next() {
  char c = skip_blanks();
  token_offset_ = here();
  if (state_ == State::behind_value) {
    if (is_object_.empty()) {
      state_ = State::done;
    } else if (c == (is_object_.back() ? '}' : ']')) {
      return close();
    } else if (c == ',') {
      advance();
      c = skip_blanks();
      token_offset_ = here();
      if (is_object_.back()) {
        if (c != '"') unexpected("a key");
        state_ = State::first_key;
      } else {
        state_ = State::value;
      }
    } else {
      unexpected(is_object_.back() ? ", or }" : ", or ]");
    }
  }
  switch (state_) {
    case State::done:
      if (!window_.empty()) unexpected("nothing after the value");
      return Kind::end;
    case State::first_key:
      if (c == '}') return close();
      if (c != '"') unexpected("a key or }");
      read_text();
      if (skip_blanks() != ':') unexpected(":");
      advance();
      state_ = State::value;
      return Kind::key;
    case State::first_item:
      if (c == ']') return close();
      return value(c);
    case State::value:
    case State::behind_value: break;
  }
  return value(c);
}

JsonTokens::Kind JsonTokens::value(char c) {
  if (c == '{' || c == '[') return begin(c == '{');
  state_ = State::behind_value;
  if (c == '"') {
    read_text();
    return Kind::text;
  }
  text_.clear();
  if (c == '-' || (c >= '0' && c <= '9')) {
    for (; is_number(c) && text_.size() < kLongestNumber; c = peek()) {
      text_ += c;
      advance();
    }
    if (!is_json_number(text_)) fail_malformed("malformed JSON: bad number " + text::in_quotes(text_), token_offset_);
    return Kind::number;
  }
  for (; c >= 'a' && c <= 'z' && text_.size() < 6; c = peek()) {
    text_ += c;
    advance();
  }
  if (text_.empty()) unexpected("a value");
  if (text_ != "true" && text_ != "false" && text_ != "null") {
    fail_malformed("malformed JSON: found " + text::in_quotes(text_) + ", expected a value", token_offset_);
  }
  return Kind::word;
}

JsonTokens::Kind JsonTokens::begin(bool object) {
  if (is_object_.size() == kMostDepth) {
    fail(ErrorCode::limit, "JSON is nested too deeply: expected at most 64 levels", here());
  }
  advance();
  is_object_.push_back(object);
  state_ = object ? State::first_key : State::first_item;
  return object ? Kind::object_begin : Kind::array_begin;
}

JsonTokens::Kind JsonTokens::close() {
  advance();
  const bool object = is_object_.back();
  is_object_.pop_back();
  state_ = State::behind_value;
  return object ? Kind::object_end : Kind::array_end;
}

void JsonTokens::read_text() {
  text_.clear();
  advance();
  for (;;) {
    const char c = peek();
    if (window_.empty()) unexpected("the end of a text");
    if (text_.size() > kLongestText) fail(ErrorCode::limit, "JSON text longer than 16 MiB", token_offset_);
    advance();
    if (c == '"') return;
    if (c == '\\') {
      read_escape();
    } else {
      text_ += c;
    }
  }
}

void JsonTokens::read_escape() {
  const char c = peek();
  if (window_.empty()) unexpected("the rest of an escape");
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  if (const std::size_t found = kNames.find(c); found != std::string_view::npos) {
    text_ += kMeant[found];
    advance();
    return;
  }
  if (c != 'u') unexpected("an escape");
  advance();
  std::uint32_t code = read_hex4();
  // A pair of surrogates is one character; a lone one is kept as its three bytes.
  if (code >= 0xd800 && code < 0xdc00 && peek() == '\\') {
    advance();
    if (peek() != 'u') {
      append_utf8(code);
      read_escape();
      return;
    }
    advance();
    const std::uint32_t low = read_hex4();
    if (low >= 0xdc00 && low < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else {
      append_utf8(code);
      code = low;
    }
  }
  append_utf8(code);
}

std::uint32_t JsonTokens::read_hex4() {
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = peek();
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) unexpected("four hexadecimal digits");
    code = code << 4 | static_cast<std::uint32_t>(digit);
    advance();
  }
  return code;
}

void JsonTokens::append_utf8(std::uint32_t code) {
  const auto put = [this](std::uint32_t byte) { text_ += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

std::int64_t JsonTokens::expect_count(std::string_view what) {
  const Kind kind = next();
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
  if (kind != Kind::number || failure != std::errc{} || end != text_.data() + text_.size() || number < 0) {
    fail_malformed("bad " + std::string(what) + ": expected a whole number from 0 to 2^63-1", token_offset_);
  }
  return number;
}

std::string_view JsonTokens::expect_text(std::string_view what) {
  if (next() != Kind::text) fail_malformed("bad " + std::string(what) + ": expected a text", token_offset_);
  return text_;
}

bool JsonTokens::expect_bool(std::string_view what) {
  if (next() != Kind::word || text_ == "null") {
    fail_malformed("bad " + std::string(what) + ": expected true or false", token_offset_);
  }
  return text_ == "true";
}

void JsonTokens::expect_begin(Kind begin, std::string_view what) {
  if (next() != begin) {
    fail_malformed("bad " + std::string(what) + ": expected " + (begin == Kind::array_begin ? "an array" : "an object"),
                   token_offset_);
  }
}

void JsonTokens::skip_value() {
  std::size_t depth = 0;
  do {
    const Kind kind = next();
    if (kind == Kind::object_begin || kind == Kind::array_begin) ++depth;
    if (kind == Kind::object_end || kind == Kind::array_end) --depth;
  } while (depth > 0);
}

}  // namespace snapdiff::formats::valgrind
