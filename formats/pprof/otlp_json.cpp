#include "formats/pprof/otlp_json.hpp"

#include <charconv>
#include <cstdint>
#include <span>
#include <string_view>
#include <system_error>

#include "formats/input/read_failure.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::pprof {
namespace {

enum class Wire : std::uint8_t { varint, fixed64, text, message };

struct FieldOf;
using Fields = std::span<const FieldOf>;

/// A field of opentelemetry-proto that is read: its name in lower case without "_", since writers use camelCase or
/// snake_case.
struct FieldOf {
  std::string_view name;
  std::uint8_t number = 0;
  Wire wire = Wire::varint;
  Fields (*fields)() = nullptr;  ///< of a message
};

template <const auto& kTable>
constexpr Fields fields_of() {
  return kTable;
}

constexpr FieldOf kAnyValue[] = {{"stringvalue", 1, Wire::text}, {"intvalue", 3}};
constexpr FieldOf kKeyValue[] = {{"key", 1, Wire::text}, {"value", 2, Wire::message, fields_of<kAnyValue>}};
constexpr FieldOf kResource[] = {{"attributes", 1, Wire::message, fields_of<kKeyValue>}};
constexpr FieldOf kValueType[] = {{"typestrindex", 1}, {"unitstrindex", 2}};
constexpr FieldOf kSample[] = {
    {"stackindex", 1}, {"attributeindices", 2}, {"values", 4}, {"timestampsunixnano", 5, Wire::fixed64}};
constexpr FieldOf kProfile[] = {{"sampletype", 1, Wire::message, fields_of<kValueType>},
                                {"samples", 2, Wire::message, fields_of<kSample>},
                                {"timeunixnano", 3, Wire::fixed64},
                                {"durationnano", 4},
                                {"periodtype", 5, Wire::message, fields_of<kValueType>},
                                {"period", 6}};
constexpr FieldOf kScopeProfiles[] = {{"profiles", 2, Wire::message, fields_of<kProfile>}};
constexpr FieldOf kResourceProfiles[] = {{"resource", 1, Wire::message, fields_of<kResource>},
                                         {"scopeprofiles", 2, Wire::message, fields_of<kScopeProfiles>}};
constexpr FieldOf kMapping[] = {
    {"memorystart", 1}, {"memorylimit", 2}, {"fileoffset", 3}, {"filenamestrindex", 4}, {"attributeindices", 5}};
constexpr FieldOf kLine[] = {{"functionindex", 1}, {"line", 2}, {"column", 3}};
constexpr FieldOf kLocation[] = {{"mappingindex", 1}, {"address", 2}, {"lines", 3, Wire::message, fields_of<kLine>}};
constexpr FieldOf kFunction[] = {
    {"namestrindex", 1}, {"systemnamestrindex", 2}, {"filenamestrindex", 3}, {"startline", 4}};
constexpr FieldOf kAttribute[] = {
    {"keystrindex", 1}, {"value", 2, Wire::message, fields_of<kAnyValue>}, {"unitstrindex", 3}};
constexpr FieldOf kStack[] = {{"locationindices", 1}};
constexpr FieldOf kDictionary[] = {{"mappingtable", 1, Wire::message, fields_of<kMapping>},
                                   {"locationtable", 2, Wire::message, fields_of<kLocation>},
                                   {"functiontable", 3, Wire::message, fields_of<kFunction>},
                                   {"stringtable", 5, Wire::text},
                                   {"attributetable", 6, Wire::message, fields_of<kAttribute>},
                                   {"stacktable", 7, Wire::message, fields_of<kStack>}};
constexpr FieldOf kProfilesData[] = {{"resourceprofiles", 1, Wire::message, fields_of<kResourceProfiles>},
                                     {"dictionary", 2, Wire::message, fields_of<kDictionary>}};

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void put_bytes(std::string& out, std::uint8_t number, std::string_view bytes) {
  put_varint(out, static_cast<std::uint64_t>(number) << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}

const FieldOf* field_called(Fields fields, std::string_view key) {
  std::string plain;
  for (const char c : key) {
    if (c != '_') plain += text::lower(c);
  }
  for (const FieldOf& field : fields) {
    if (field.name == plain) return &field;
  }
  return nullptr;
}

/// A whole number, which JSON of protobuf also writes as a text.
std::uint64_t read_whole(json::JsonScanner& json) {
  const std::uint64_t offset = json.offset();
  std::string text;
  if (json.kind() == json::Kind::text) {
    json.text(text);
  } else {
    text = json.number_text();
  }
  const char* const end = text.data() + text.size();
  std::int64_t value = 0;
  if (const auto [at, failure] = std::from_chars(text.data(), end, value); failure == std::errc{} && at == end)
    return static_cast<std::uint64_t>(value);
  std::uint64_t large = 0;  // addresses and times have no sign
  if (const auto [at, failure] = std::from_chars(text.data(), end, large); failure == std::errc{} && at == end)
    return large;
  text::fail_found("malformed OTLP", text, "a whole number of 64 bits", offset);
}

/// Its depth is that of the tables above: messages of OTLP that hold themselves are not read.
void read_message_of(json::JsonScanner& json, Fields fields, std::string& out);

void read_one(json::JsonScanner& json, const FieldOf& field, std::string& out) {
  switch (field.wire) {
    case Wire::varint:
      put_varint(out, static_cast<std::uint64_t>(field.number) << 3);
      return put_varint(out, read_whole(json));
    case Wire::fixed64: {
      put_varint(out, static_cast<std::uint64_t>(field.number) << 3 | 1);
      const std::uint64_t value = read_whole(json);
      for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(value >> shift);
      return;
    }
    case Wire::text: {
      std::string text;
      json.text(text);
      return put_bytes(out, field.number, text);
    }
    case Wire::message: {
      std::string inner;
      read_message_of(json, field.fields(), inner);
      return put_bytes(out, field.number, inner);
    }
  }
}

void read_message_of(json::JsonScanner& json, Fields fields, std::string& out) {
  if (json.kind() != json::Kind::object) json.unexpected("an object");
  json.each_member([&](std::string_view key) {
    const FieldOf* const field = field_called(fields, key);
    if (field == nullptr) return json.skip_value();
    if (json.kind() == json::Kind::null) return json.null();
    if (json.kind() != json::Kind::array) return read_one(json, *field, out);
    json.each_item([&](std::size_t) { read_one(json, *field, out); });
  });
}

}  // namespace

bool next_json_message(json::JsonScanner& json, std::string& out) {
  out.clear();
  json.skip_byte_order_mark();
  if (json.at_end()) return false;
  read_message_of(json, kProfilesData, out);
  return true;
}

}  // namespace snapdiff::formats::pprof
