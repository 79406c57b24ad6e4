#include "formats/tracker_lines/json_line.hpp"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "formats/input/utf8.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::tracker_lines {
namespace {

// U+10FF00 to U+10FFFF, private use, begin with these two bytes and BC to BF as the third.
constexpr std::string_view kPrefix = "\xf4\x8f";
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

/// The code of "\uXXXX" at `at`.
std::optional<unsigned> escape_at(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  text::Cursor digits(text.substr(at + 2, 4));
  std::uint64_t code = 0;
  if (digits.hex(code) != text::Number::ok || !digits.at_end()) return std::nullopt;
  return static_cast<unsigned>(code);
}

void append_marked(std::string& out, unsigned byte, bool ambiguous) {
  if (ambiguous) {
    out += kReplacement;
    return;
  }
  out += kPrefix;
  out += static_cast<char>(0xbcU + (byte >> 6));
  out += static_cast<char>(0x80U + (byte & 0x3fU));
}

bool has_private_codes(std::string_view line) {
  for (std::size_t at = line.find(kPrefix); at != std::string_view::npos; at = line.find(kPrefix, at + 1)) {
    if (byte_at(line, at + 2) >= 0xbc) return true;
  }
  return false;
}

/// The line with a private code point (U+10FF00 + byte) for each such byte, "" when there is none. Where the line has
/// such code points itself, U+FFFD stands for the byte.
std::string repaired_text(std::string_view line) {
  const bool ambiguous = has_private_codes(line);
  std::string out;
  out.reserve(line.size() + 64);
  bool changed = false;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '\\') {
      const std::optional<unsigned> code = escape_at(line, at);
      if (code && *code >= 0xd800 && *code <= 0xdfff) {
        const std::optional<unsigned> next = escape_at(line, at + 6);
        if (*code <= 0xdbff && next && *next >= 0xdc00 && *next <= 0xdfff) {
          out.append(line.substr(at, 12));
          at += 12;
          continue;
        }
        // Python's surrogateescape: U+DC80 to U+DCFF stand for the bytes 80 to FF.
        append_marked(out, *code & 0xffU, ambiguous || *code < 0xdc80 || *code > 0xdcff);
        changed = true;
        at += 6;
        continue;
      }
      out.append(line.substr(at, 2));
      at += 2;
      continue;
    }
    const std::size_t length = decode_utf8(line, at).length;
    if (length == 0) {
      append_marked(out, byte_at(line, at), ambiguous);
      changed = true;
      ++at;
      continue;
    }
    out.append(line.substr(at, length));
    at += length;
  }
  return changed ? out : std::string();
}

/// Appends `text` of a repaired line with the bytes put back.
void append_restored(std::string_view text, std::string& out) {
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at, 2) == kPrefix && at + 4 <= text.size() && byte_at(text, at + 2) >= 0xbc) {
      out += static_cast<char>(((byte_at(text, at + 2) - 0xbcU) << 6) | (byte_at(text, at + 3) & 0x3fU));
      at += 4;
    } else {
      out += text[at++];
    }
  }
}

}  // namespace

struct JsonLine::Parser {
  simdjson::dom::parser dom;
};

namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kFirstCapacity = std::size_t{64} << 10;

const char* message_of(simdjson::error_code error) {
  switch (error) {
    case simdjson::DEPTH_ERROR: return "nested deeper than 8 levels";
    case simdjson::NUMBER_ERROR: return "invalid JSON: not a valid number, or an integer beyond 64 bits";
    case simdjson::UTF8_ERROR: return "invalid JSON: bytes that are not UTF-8";
    case simdjson::STRING_ERROR: return "invalid JSON: a string with an invalid escape";
    case simdjson::UNCLOSED_STRING: return "invalid JSON: a string without an end";
    case simdjson::UNESCAPED_CHARS: return "invalid JSON: a control character inside a string";
    case simdjson::EMPTY: return "invalid JSON: nothing but white space";
    case simdjson::CAPACITY:
    case simdjson::MEMALLOC: return "too long to be parsed";
    default: return "invalid JSON";
  }
}

/// Puts a value and all below it in a row. The depth is bounded: simdjson refuses what is deeper.
const char* flatten(const dom::element& element, std::string_view key, std::size_t depth, std::vector<JsonValue>& out) {
  if (out.size() == kMaxValues) return "more than 1100000 values";
  const std::size_t row = out.size();
  JsonValue& value = out.emplace_back();
  value.key = key;
  switch (element.type()) {
    case dom::element_type::STRING:
      value.kind = JsonKind::text;
      value.text = element.get_string().value_unsafe();
      break;
    case dom::element_type::INT64:
      value.kind = JsonKind::integer;
      value.integer = element.get_int64().value_unsafe();
      break;
    case dom::element_type::UINT64:
      value.kind = JsonKind::big;
      value.real = static_cast<double>(element.get_uint64().value_unsafe());
      break;
    case dom::element_type::DOUBLE:
      value.kind = JsonKind::real;
      value.real = element.get_double().value_unsafe();
      break;
    case dom::element_type::BOOL:
      value.kind = JsonKind::boolean;
      value.truth = element.get_bool().value_unsafe();
      break;
    case dom::element_type::NULL_VALUE: value.kind = JsonKind::null; break;
    case dom::element_type::ARRAY: {
      value.kind = JsonKind::array;
      if (depth > kMaxDepth) return message_of(simdjson::DEPTH_ERROR);
      dom::array items;
      if (const auto error = element.get_array().get(items)) return message_of(error);
      for (const dom::element item : items) {
        if (const char* problem = flatten(item, {}, depth + 1, out)) return problem;
      }
      break;
    }
    case dom::element_type::OBJECT: {
      value.kind = JsonKind::object;
      if (depth > kMaxDepth) return message_of(simdjson::DEPTH_ERROR);
      dom::object members;
      if (const auto error = element.get_object().get(members)) return message_of(error);
      for (const dom::key_value_pair field : members) {
        if (const char* problem = flatten(field.value, field.key, depth + 1, out)) return problem;
      }
      break;
    }
  }
  out[row].end = static_cast<std::uint32_t>(out.size());
  return nullptr;
}

}  // namespace

JsonLine::JsonLine() : parser_(std::make_unique<Parser>()) {}
JsonLine::~JsonLine() = default;

const char* JsonLine::parse_padded(const char* line, std::size_t size) {
  values_.clear();
  if (size > capacity_) {
    capacity_ = std::bit_ceil(std::max(size, kFirstCapacity));
    // One more than the depth that is read: simdjson counts up to it, not including it.
    if (const auto error = parser_->dom.allocate(capacity_, kMaxDepth + 1)) return message_of(error);
  }
  dom::element root;
  if (const auto error = parser_->dom.parse(line, size, false).get(root)) return message_of(error);
  return flatten(root, {}, 1, values_);
}

const char* JsonLine::parse(std::string_view line, std::size_t bytes_behind) {
  repaired_ = false;
  if (bytes_behind < kPadding) {
    padded_.assign(line);
    padded_.append(kPadding, ' ');
    line = std::string_view(padded_).substr(0, line.size());
  }
  const char* problem = parse_padded(line.data(), line.size());
  if (problem == nullptr ||
      (problem != message_of(simdjson::UTF8_ERROR) && problem != message_of(simdjson::STRING_ERROR)))
    return problem;
  std::string repaired = repaired_text(line);
  if (repaired.empty()) return problem;
  const std::size_t size = repaired.size();
  padded_ = std::move(repaired);
  padded_.append(kPadding, ' ');
  if (const char* still = parse_padded(padded_.data(), size)) return still;
  repaired_ = true;
  restore_bytes();
  return nullptr;
}

/// Gives the texts of a repaired line their bytes back.
void JsonLine::restore_bytes() {
  restored_.clear();
  const auto total = [&] {
    std::size_t sum = 0;
    for (const JsonValue& value : values_) sum += value.key.size() + value.text.size();
    return sum;
  };
  restored_.reserve(total());  // no text moves: restoring never makes one longer
  for (JsonValue& value : values_) {
    for (std::string_view* text : {&value.key, &value.text}) {
      const std::size_t begin = restored_.size();
      append_restored(*text, restored_);
      *text = std::string_view(restored_).substr(begin);
    }
  }
}

}  // namespace snapdiff::formats::tracker_lines
