#include "formats/tracker_lines/json_line.hpp"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "formats/tracker_lines/repair_text.hpp"

namespace snapdiff::formats::tracker_lines {

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
  std::string repaired = repair_text(line);
  if (repaired.empty()) return problem;
  const std::size_t size = repaired.size();
  padded_ = std::move(repaired);
  padded_.append(kPadding, ' ');
  if (const char* still = parse_padded(padded_.data(), size)) return still;
  repaired_ = true;
  restore_texts();
  return nullptr;
}

/// Gives the texts of a repaired line their bytes back.
void JsonLine::restore_texts() {
  original_.clear();
  const auto total = [&] {
    std::size_t sum = 0;
    for (const JsonValue& value : values_) sum += value.key.size() + value.text.size();
    return sum;
  };
  original_.reserve(total());  // no text moves: giving them back never makes one longer
  for (JsonValue& value : values_) {
    for (std::string_view* text : {&value.key, &value.text}) {
      const std::size_t begin = original_.size();
      append_original(*text, original_);
      *text = std::string_view(original_).substr(begin);
    }
  }
}

}  // namespace snapdiff::formats::tracker_lines
