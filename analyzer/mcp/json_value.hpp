#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json_scanner.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::mcp {

using JsonKind = formats::json::Kind;

struct JsonMember;

/// A JSON value as a tree: requests are small.
///   text  of a text; of a number as it is written
struct JsonValue {
  JsonKind kind = JsonKind::null;
  bool is_true = false;
  std::string text;
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;

  bool is_object() const { return kind == JsonKind::object; }
  bool is_text() const { return kind == JsonKind::text; }
  /// A number without a fraction and an exponent.
  bool is_integer() const;
  /// The member of this name, of several the last one; null where there is none.
  const JsonValue* find(std::string_view name) const;
  const JsonValue* find_text(std::string_view name) const;
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

/// The one value that `text` is: RFC 8259 in UTF-8, at most 64 levels. Errors: malformed, limit.
Result<JsonValue> parse_json(std::string_view text);

/// "an object", "a text": what a message calls a value of this kind.
std::string_view kind_text(JsonKind kind);

}  // namespace snapdiff::mcp
