#include "analyzer/mcp/json_value.hpp"

#include "analyzer/base/failure.hpp"
#include "formats/input/utf8.hpp"
#include "formats/input/window_input.hpp"

namespace snapdiff::mcp {
namespace {

constexpr std::size_t kMostLevels = 64;

JsonValue value_of(formats::json::JsonScanner& json, std::size_t levels) {
  JsonValue value;
  value.kind = json.kind();
  switch (value.kind) {
    case JsonKind::object:
      json.check_depth(levels, kMostLevels);
      json.each_member(
          [&](std::string_view name) {
            std::string own(name);
            value.members.push_back({std::move(own), value_of(json, levels + 1)});
          },
          formats::json::JsonScanner::kLongestText);
      break;
    case JsonKind::array:
      json.check_depth(levels, kMostLevels);
      json.each_item([&](std::size_t) { value.items.push_back(value_of(json, levels + 1)); });
      break;
    case JsonKind::text: json.text(value.text); break;
    case JsonKind::number: value.text = json.number_text(); break;
    case JsonKind::boolean: value.is_true = json.boolean(); break;
    case JsonKind::null: json.null(); break;
  }
  return value;
}

}  // namespace

bool JsonValue::is_integer() const {
  return kind == JsonKind::number && text.find_first_of(".eE") == std::string::npos;
}

const JsonValue* JsonValue::find(std::string_view name) const {
  const JsonValue* found = nullptr;
  for (const JsonMember& member : members) {
    if (member.name == name) found = &member.value;
  }
  return found;
}

const JsonValue* JsonValue::find_text(std::string_view name) const {
  const JsonValue* const found = find(name);
  return found != nullptr && found->is_text() ? found : nullptr;
}

Result<JsonValue> parse_json(std::string_view text) {
  return guarded([&]() -> JsonValue {
    if (!formats::is_utf8(text)) fail(ErrorCode::malformed, "malformed JSON: bytes that are not UTF-8");
    formats::MemoryInput input(text, "request");
    formats::json::JsonScanner json(input);
    json.refuse_control_characters();
    JsonValue value = value_of(json, 0);
    if (!json.at_end()) json.unexpected("the end of the message");
    return value;
  });
}

std::string_view kind_text(JsonKind kind) {
  constexpr std::string_view kTexts[] = {"an object", "an array", "a text", "a number", "true or false", "null"};
  return kTexts[static_cast<std::size_t>(kind)];
}

}  // namespace snapdiff::mcp
