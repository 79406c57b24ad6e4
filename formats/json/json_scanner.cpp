#include "formats/json/json_scanner.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "formats/input/utf8.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::json {
namespace {

constexpr std::size_t kLongestNumberText = 400;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

bool is_number(char c) { return text::is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; }

/// Which of 64 bytes are what, the first in the lowest bit.
struct Bytes64 {
  std::uint64_t digit = 0;
  std::uint64_t comma = 0;
  std::uint64_t line_end = 0;
};

Bytes64 look_at(const char* bytes) {
  Bytes64 out;
#ifdef __SSE2__
#pragma GCC unroll 4
  for (unsigned at = 0; at < 64; at += 16) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + at));
    const auto mask = [at](__m128i found) {
      return std::uint64_t{static_cast<unsigned>(_mm_movemask_epi8(found))} << at;
    };
    const __m128i value = _mm_sub_epi8(part, _mm_set1_epi8('0'));
    out.digit |= mask(_mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value));
    out.comma |= mask(_mm_cmpeq_epi8(part, _mm_set1_epi8(',')));
    out.line_end |= mask(_mm_cmpeq_epi8(part, _mm_set1_epi8('\n')));
  }
#else
  for (unsigned at = 0; at < 64; ++at) {
    out.digit |= std::uint64_t{text::is_digit(bytes[at])} << at;
    out.comma |= std::uint64_t{bytes[at] == ','} << at;
    out.line_end |= std::uint64_t{bytes[at] == '\n'} << at;
  }
#endif
  return out;
}

/// The number of `size` digits, 1 to 8. Pairs, fours and eights of them are added side by side, behind zeros.
inline std::uint64_t short_value(const char* digits, std::size_t size) {
  std::uint64_t pairs = 0;
  std::memcpy(&pairs, digits, sizeof pairs);
  if constexpr (std::endian::native == std::endian::big) pairs = __builtin_bswap64(pairs);
  pairs = (pairs - 0x3030303030303030U) << (64 - 8 * size);
  pairs = pairs * 10 + (pairs >> 8U);
  constexpr std::uint64_t kMask = 0x000000ff000000ffU;
  return ((pairs & kMask) * (100 + (1000000ULL << 32U)) + (pairs >> 16U & kMask) * (1 + (10000ULL << 32U))) >> 32U;
}

std::uint64_t long_value(const char* digits, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value * 10 + static_cast<std::uint64_t>(digits[i] - '0');
  return value;
}

/// RFC 8259: -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
bool is_json_number(std::string_view number) {
  text::Cursor rest(number);
  rest.take('-');
  const bool zero = rest.peek() == '0';
  const std::size_t whole = rest.digits().size();
  if (whole == 0 || (whole > 1 && zero)) return false;
  if (rest.take('.') && rest.digits().empty()) return false;
  if (rest.take('e') || rest.take('E')) {
    if (!rest.take('+')) rest.take('-');
    if (rest.digits().empty()) return false;
  }
  return rest.at_end();
}

}  // namespace

char JsonScanner::token_behind_blanks() {
  for (;;) {
    if (!bytes_.ensure(p_, 1)) return '\0';
    if (!is_blank(*p_)) return *p_;
    ++p_;
  }
}

bool JsonScanner::has_rest() {
  while (token() == '\0') {
    if (bytes_.at_end(p_)) return false;
    ++p_;
  }
  return true;
}

void JsonScanner::skip_byte_order_mark() {
  if (token() == '\xef' && bytes_.ensure(p_, 3) && std::string_view(p_, 3) == "\xef\xbb\xbf") p_ += 3;
}

void JsonScanner::unexpected(std::string_view expected) {
  if (!bytes_.ensure(p_, 1))
    fail_malformed("truncated JSON: the input ends, expected " + std::string(expected), offset());
  fail_malformed(instead("malformed JSON", text::in_quotes({p_, 1}), std::string(expected)), offset());
}

void JsonScanner::cut_text(std::uint64_t start) {
  p_ = bytes_.end();
  unexpected("the end of the text that begins at byte " + std::to_string(start));
}

void JsonScanner::check_depth(std::size_t levels, std::size_t most) const {
  if (levels < most) return;
  fail(ErrorCode::limit, "nested too deeply: expected at most " + std::to_string(most) + " levels", offset());
}

Kind JsonScanner::kind() {
  switch (const char c = token()) {
    case '{': return Kind::object;
    case '[': return Kind::array;
    case '"': return Kind::text;
    case 't':
    case 'f': return Kind::boolean;
    case 'n': return Kind::null;
    default:
      if (c != '-' && digit(c) > 9) unexpected("a value");
      return Kind::number;
  }
}

std::uint64_t JsonScanner::number_behind_blanks() {
  if (digit(token()) > 9) unexpected("an integer that is not negative");
  return number();
}

void JsonScanner::number_too_long() {
  fail_malformed("number too large: found more than 18 digits, expected it below 10^18", offset());
}

std::size_t JsonScanner::rows(NumberRun& out, std::size_t width, std::uint64_t most) {
  constexpr std::size_t kBlock = 64;
  constexpr std::size_t kBehind = 8;  // bytes that value_of() looks at from the last digit of a block on
  bytes_.ensure(p_, kBlock + kBehind);
  const char* const here = p_;
  const std::size_t fit = NumberRun::kMost - kBlock / 2;
  std::size_t count = 0;
  std::size_t begin = 0;
  std::uint64_t good = ~std::uint64_t{0};
  std::uint64_t before_digit = 0, before_comma = 1, before_line_end = 0;  // the last byte of the block before
  for (std::size_t block = 0; good == ~std::uint64_t{0} && count < fit; block += kBlock) {
    if (static_cast<std::size_t>(bytes_.end() - here) < block + kBlock + kBehind) break;
    const Bytes64 is = look_at(here + block);
    const std::uint64_t behind_digit = is.digit << 1U | before_digit;
    const std::uint64_t behind_line_end = is.line_end << 1U | before_line_end;
    const std::uint64_t bad = ~(is.digit | is.comma | is.line_end) |
                              (is.digit & ~behind_digit & ~(is.comma << 1U | before_comma)) |
                              (is.comma & ~behind_digit & ~behind_line_end) | (is.line_end & ~behind_digit);
    if (bad != 0) good = (bad & -bad) - 1;
    for (std::uint64_t ends = ~is.digit & behind_digit & good; ends != 0; ends &= ends - 1) {
      const auto bit = static_cast<unsigned>(std::countr_zero(ends));
      const std::size_t size = block + bit - begin;
      if (size > static_cast<std::size_t>(kMostDigits)) {
        good = 0;
        break;
      }
      out.begin[count] = static_cast<std::uint32_t>(begin);
      out.value[count++] = size > 8 ? long_value(here + begin, size) : short_value(here + begin, size);
      begin = block + bit + 1 + (is.line_end >> bit & 1U);
    }
    before_digit = is.digit >> 63U;
    before_comma = is.comma >> 63U;
    before_line_end = is.line_end >> 63U;
  }
  // The last one's end may be the end of what was looked at: it is left for the next call.
  const std::size_t rows = std::min<std::uint64_t>((std::max<std::size_t>(count, 1) - 1) / width, most);
  if (rows > 0) p_ += out.begin[rows * width];
  return rows;
}

std::string_view JsonScanner::number_text() {
  token();
  bytes_.ensure(p_, kLongestNumberText + 1);
  const char* const limit = p_ + std::min<std::ptrdiff_t>(bytes_.end() - p_, kLongestNumberText + 1);
  const char* end = p_;
  while (end != limit && text::is_digit(*end)) ++end;
  const bool is_plain = end != p_ && end != limit && !is_number(*end) && (*p_ != '0' || end == p_ + 1);
  while (end != limit && is_number(*end)) ++end;
  const std::string_view number(p_, static_cast<std::size_t>(end - p_));
  if (!is_plain && (number.size() > kLongestNumberText || !is_json_number(number)))
    fail_malformed("malformed JSON: bad number " + text::in_quotes(number), offset());
  p_ = end;
  return number;
}

bool JsonScanner::boolean() {
  const bool value = token() == 't';
  word(value ? "true" : "false");
  return value;
}

void JsonScanner::word(std::string_view word) {
  for (const char c : word) {
    if (!bytes_.ensure(p_, 1) || *p_ != c) unexpected(word);
    ++p_;
  }
}

unsigned JsonScanner::hex4() {
  unsigned code = 0;
  for (int i = 0; i < 4; ++i, ++p_) {
    if (!bytes_.ensure(p_, 1) || !text::is_hex(*p_)) unexpected("four hexadecimal digits");
    code = code * 16 + static_cast<unsigned>(text::kHexValue[static_cast<unsigned char>(*p_)]);
  }
  return code;
}

/// After a backslash.
void JsonScanner::escape(std::string& out) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  if (!bytes_.ensure(p_, 1)) unexpected("the rest of an escape");
  if (const std::size_t found = kNames.find(*p_); found != std::string_view::npos) {
    out += kMeant[found];
    ++p_;
    return;
  }
  if (*p_ != 'u') unexpected("an escape");
  ++p_;
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
  append_utf8(out, code);
}

bool JsonScanner::text(std::string& out, std::size_t most) {
  expect('"', "a text");
  const std::uint64_t start = offset() - 1;
  out.clear();
  for (;;) {
    if (!bytes_.ensure(p_, 1)) cut_text(start);
    const char* q = p_;
    while (q != bytes_.end() && *q != '"' && *q != '\\' && static_cast<unsigned char>(*q) >= lowest_) ++q;
    const std::size_t room = most + 8 > out.size() ? most + 8 - out.size() : 0;
    out.append(p_, std::min(static_cast<std::size_t>(q - p_), room));
    p_ = q;
    if (q == bytes_.end()) continue;
    if (static_cast<unsigned char>(*q) < lowest_) unexpected("no control character in a text");
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

void JsonScanner::text(std::string& out) {
  token();
  const std::uint64_t start = offset();
  if (text(out, kLongestText)) fail(ErrorCode::limit, "JSON text too long: expected at most 67108864 bytes", start);
}

void JsonScanner::skip_text() {
  expect('"', "a text");
  const std::uint64_t start = offset() - 1;
  for (;;) {
    if (!bytes_.ensure(p_, 2)) {
      if (!bytes_.at_end(p_) && *p_ == '"') break;
      cut_text(start);
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

void JsonScanner::skip_value() {
  std::string open;
  const auto key = [&] {
    if (token() != '"') unexpected("a key");
    skip_text();
    expect(':', ":");
  };
  for (;;) {
    switch (kind()) {
      case Kind::object:
      case Kind::array: {
        check_depth(open.size(), kMostLevels);
        const bool object = *p_++ == '{';
        open += object ? '}' : ']';
        if (token() != open.back()) {
          if (object) key();
          continue;
        }
        ++p_;
        open.pop_back();
        break;
      }
      case Kind::text: skip_text(); break;
      case Kind::number: number_text(); break;
      case Kind::boolean: boolean(); break;
      case Kind::null: null(); break;
    }
    for (;;) {
      if (open.empty()) return;
      const bool object = open.back() == '}';
      if (another(open.back(), object ? ", or }" : ", or ]")) {
        if (object) key();
        break;
      }
      open.pop_back();
    }
  }
}

}  // namespace snapdiff::formats::json
