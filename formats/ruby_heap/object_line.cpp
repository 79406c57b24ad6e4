#include "formats/ruby_heap/object_line.hpp"

#include <limits>
#include <string_view>

#include "formats/input/read_failure.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::ruby {
namespace {

constexpr std::size_t kLongestName = 1024;
constexpr std::size_t kLongestAddress = 32;

std::uint64_t read_address(json::JsonScanner& json, std::string& text) {
  const std::uint64_t offset = json.offset();
  json.text(text, kLongestAddress);
  text::Cursor at(text);
  std::uint64_t out = 0;
  if (!at.take("0x") || at.hex(out) != text::Number::ok || !at.at_end())
    text::fail_found("address not readable", text, "\"0x…\" of at most 16 digits", offset);
  return out;
}

/// Where a value may be of another kind than usual, it is passed over.
void read_text(json::JsonScanner& json, std::string& out) {
  if (json.kind() == json::Kind::text) {
    json.text(out, kLongestName);
  } else {
    json.skip_value();
  }
}

std::int64_t read_count(json::JsonScanner& json) {
  if (json.kind() == json::Kind::number) return static_cast<std::int64_t>(json.number());
  json.skip_value();
  return 0;
}

}  // namespace

void read_object_line(json::JsonScanner& json, ObjectLine& out) {
  std::string scratch;
  std::vector<std::uint64_t> references = std::move(out.references);
  references.clear();
  out = {};
  out.references = std::move(references);
  json.each_member([&](std::string_view key) {
    if (key == "address") {
      out.address = read_address(json, scratch);
    } else if (key == "class") {
      out.class_address = read_address(json, scratch);
    } else if (key == "superclass") {
      out.superclass = read_address(json, scratch);
    } else if (key == "references") {
      json.each_item([&](std::size_t) { out.references.push_back(read_address(json, scratch)); });
    } else if (key == "type") {
      read_text(json, out.type);
    } else if (key == "root") {
      read_text(json, out.root);
    } else if (key == "name") {
      read_text(json, out.name);
    } else if (key == "struct" || key == "imemo_type" || key == "real_class_name") {
      read_text(json, out.of);
    } else if (key == "file") {
      read_text(json, out.file);
    } else if (key == "method") {
      read_text(json, out.method);
    } else if (key == "line") {
      out.line = read_count(json);
    } else if (key == "memsize") {
      out.bytes = read_count(json);
    } else if (key == "singleton" && json.kind() == json::Kind::boolean) {
      out.is_singleton = json.boolean();
    } else {
      json.skip_value();
    }
  });
  if (out.line > std::numeric_limits<std::int32_t>::max()) out.line = 0;
}

}  // namespace snapdiff::formats::ruby
