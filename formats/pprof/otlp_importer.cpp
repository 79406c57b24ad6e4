#include <protozero/pbf_writer.hpp>

#include "analyzer/base/contains.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/json/json_scanner.hpp"
#include "formats/pprof/otlp_snapshot.hpp"
#include "formats/text/held_sink.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/scan.hpp"

/// OpenTelemetry's ProfilesData (opentelemetry-proto, profiles/v1development of 2026), alone or framed by the lengths
/// of a collector's file exporter, or in JSON.
namespace snapdiff::formats {
namespace {

using namespace pprof;

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
  std::int64_t value = 0;
  if (text::parse_whole(text, value)) return static_cast<std::uint64_t>(value);
  std::uint64_t large = 0;  // addresses and times have no sign
  if (text::parse_whole(text, large)) return large;
  text::fail_found("malformed OTLP", text, "a whole number of 64 bits", offset);
}

/// Its depth is that of the tables above: messages of OTLP that hold themselves are not read.
void read_message_of(json::JsonScanner& json, Fields fields, protozero::pbf_writer out);

void read_one(json::JsonScanner& json, const FieldOf& field, protozero::pbf_writer& out) {
  switch (field.wire) {
    case Wire::varint: return out.add_uint64(field.number, read_whole(json));
    case Wire::fixed64: return out.add_fixed64(field.number, read_whole(json));
    case Wire::text: {
      std::string text;
      json.text(text);
      return out.add_bytes(field.number, text);
    }
    case Wire::message: {
      std::string inner;  // a submessage of the writer would be left out where it is empty
      read_message_of(json, field.fields(), protozero::pbf_writer(inner));
      return out.add_message(field.number, inner);
    }
  }
}

void read_message_of(json::JsonScanner& json, Fields fields, protozero::pbf_writer out) {
  if (json.kind() != json::Kind::object) json.unexpected("an object");
  json.each_member([&](std::string_view key) {
    const FieldOf* const field = field_called(fields, key);
    if (field == nullptr) return json.skip_value();
    if (json.kind() == json::Kind::null) return json.null();
    if (json.kind() != json::Kind::array) return read_one(json, *field, out);
    json.each_item([&](std::size_t) { read_one(json, *field, out); });
  });
}

/// The next ProfilesData of a text in protobuf's JSON form, as the bytes of its binary form; members of no known name
/// are left out. False where only blanks are left. Throws Failure.
bool next_json_message(json::JsonScanner& json, std::string& out) {
  out.clear();
  json.skip_byte_order_mark();
  if (json.at_end()) return false;
  read_message_of(json, kProfilesData, protozero::pbf_writer(out));
  return true;
}

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kMostMessageBytes = std::size_t{1} << 30;

/// Profiles and the dictionary come in any order: a head shows one of them.
bool is_json_otlp(std::string_view head) {
  return text::begins_with(head, {"{", "\""}) &&
         (contains(head, "\"resourceProfiles\"") || contains(head, "\"resource_profiles\"") ||
          (contains(head, "\"dictionary\"") && (contains(head, "Table\"") || contains(head, "_table\""))));
}

void read_resource(protozero::pbf_reader in, OtlpProfile& out) {
  while (in.next()) {
    if (in.tag() != 1) {
      in.skip();
      continue;
    }
    protozero::data_view key;
    OtlpTables::Attribute value;
    for (protozero::pbf_reader part = in.get_message(); part.next();) {
      switch (part.tag()) {
        case 1: key = part.get_view(); break;
        case 2: read_any_value(part.get_message(), value); break;
        default: part.skip();
      }
    }
    if (key.size() > 0 && !value.text.empty())
      out.resource.emplace_back(std::string_view(key.data(), key.size()), value.text);
  }
}

void read_resource_profiles(protozero::pbf_reader in, std::vector<OtlpProfile>& out) {
  OtlpProfile shared;
  const std::size_t first = out.size();
  while (in.next()) {
    if (in.tag() == 1) {
      read_resource(in.get_message(), shared);
    } else if (in.tag() == 2) {
      for (protozero::pbf_reader scope = in.get_message(); scope.next();) {
        if (scope.tag() == 2) {
          out.push_back(read_otlp_profile(scope.get_message()));
        } else {
          scope.skip();
        }
      }
    } else {
      in.skip();
    }
  }
  std::sort(shared.resource.begin(), shared.resource.end());
  for (std::size_t i = first; i < out.size(); ++i) out[i].resource = shared.resource;
}

/// Hands on the profiles of one message, by their moments. True where profiles of time were left out.
bool read_data(std::string_view bytes, std::uint64_t offset, text::HeldSink& out) {
  std::vector<OtlpProfile> profiles;
  OtlpTables tables;
  bool has_time = false;
  read_message(bytes, offset, "OTLP message", [&](protozero::pbf_reader& in) {
    while (in.next()) {
      switch (in.tag()) {
        case 1: read_resource_profiles(in.get_message(), profiles); break;
        case 2: {
          const protozero::data_view dictionary = in.get_view();
          tables.read({dictionary.data(), dictionary.size()},
                      offset + static_cast<std::uint64_t>(dictionary.data() - bytes.data()));
          break;
        }
        default: in.skip();
      }
    }
    std::map<std::int64_t, std::vector<OtlpProfile>> moments;
    for (OtlpProfile& profile : profiles) {
      if (is_of_time(profile, tables)) {
        has_time = true;
      } else {
        moments[profile.time_ns].push_back(std::move(profile));
      }
    }
    for (const auto& [time, found] : moments) out.take(otlp_snapshot(found, tables, bytes.size()));
  });
  return has_time;
}

/// Refuses what held nothing, and tells what was left out.
void finish_otlp(text::HeldSink& held, bool has_time) {
  if (held.empty())
    fail(ErrorCode::unsupported,
         has_time ? "OTLP profile of CPU time: expected one of memory, in bytes or objects"
                  : "OTLP message without profiles: expected at least one",
         0);
  if (has_time) held.last().notes.add(Severity::info, "profiles of time, left out");
  held.flush();
}

/// Messages in JSON, one behind the other, as a collector's file exporter writes them: each is turned into its binary
/// form. Messages in front of a cut one are kept.
void read_json_otlp(Input& in, text::HeldSink& held) {
  json::JsonScanner json(in);
  std::string bytes;
  bool has_time = false;
  for (;;) {
    bool found = false;
    try {
      found = next_json_message(json, bytes);
    } catch (const Failure& failure) {
      if (held.empty() || failure.error.code != ErrorCode::malformed) throw;
      held.last().lose("the input ends inside a message, which was left out", failure.error.offset);
    }
    if (!found) break;
    has_time = read_data(bytes, 0, held) || has_time;
  }
  finish_otlp(held, has_time);
}

void read_otlp(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  text::HeldSink held(out);
  if (is_json_otlp(value_or_throw(in.peek(kSniffBytes)))) return read_json_otlp(in, held);
  bool has_time = false;
  const bool is_framed = value_or_throw(in.peek(1)).starts_with('\0');
  for (;;) {
    std::size_t size = kMostMessageBytes;
    std::string_view view = value_or_throw(in.peek(is_framed ? kLengthBytes : size));
    if (view.empty()) break;
    if (is_framed) {
      if (view.size() < kLengthBytes) fail_malformed("length of a message is cut: expected four bytes", in.offset());
      size = 0;
      for (std::size_t i = 0; i < kLengthBytes; ++i) size = size << 8 | static_cast<unsigned char>(view[i]);
      in.consume(kLengthBytes);
      view = value_or_throw(in.peek(size));
      if (view.size() < size) {
        if (held.empty()) fail_malformed("message is cut: expected " + std::to_string(size) + " bytes", in.offset());
        held.last().lose("the input ends inside a message, which was left out", in.offset());
        break;
      }
      view = view.substr(0, size);
    }
    if (view.size() > kMostMessageBytes)
      fail(ErrorCode::limit, "message too long: expected at most 1 GiB", in.offset());
    has_time = read_data(view, in.offset(), held) || has_time;
    in.consume(view.size());
  }
  finish_otlp(held, has_time);
}

/// A length of the wire format at `at`, which moves after it; false where it is cut.
bool take_length(std::string_view head, std::size_t& at, std::size_t& length) {
  length = 0;
  for (int shift = 0; at < head.size() && shift <= 28; shift += 7) {
    const auto byte = static_cast<unsigned char>(head[at++]);
    length |= static_cast<std::size_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

/// The dictionary first: tables, each with an empty first entry; a sample of profile.proto, which has that number
/// there, has fields 1 to 3.
bool begins_with_dictionary(std::string_view head) {
  std::size_t at = 1, length = 0;
  if (head.empty() || head[0] != '\x12' || !take_length(head, at, length)) return false;
  head = head.substr(0, at + std::min(length, head.size() - at));
  for (int field = 0; field < 16 && at < head.size(); ++field) {
    const auto tag = static_cast<unsigned char>(head[at++]);
    if (!take_length(head, at, length) || (tag & 7) != 2 || tag >> 3 > 7) return false;
    if (tag >> 3 > 3) return true;
    if (length >= head.size() - at) return false;
    at += length;
  }
  return false;
}

/// Profiles first: a resource, a scope (both may be absent), a profile, whose type comes first.
bool begins_with_profiles(std::string_view head) {
  std::size_t at = 0, length = 0;
  for (const char wanted : {'\x0a', '\x12', '\x12'}) {
    if (at >= head.size()) return false;
    if (wanted == '\x12' && head[at] == '\x0a') {  // what may be absent
      if (!take_length(head, ++at, length) || length >= head.size() - at) return false;
      at += length;
    }
    if (head[at] != wanted || !take_length(head, ++at, length)) return false;
  }
  return at + 3 < head.size() && head[at] == '\x0a' && static_cast<unsigned char>(head[at + 1]) <= 12 &&
         head[at + 2] == '\x08';
}

Match sniff_otlp(std::string_view head) {
  if (is_json_otlp(head)) return Match::certain;
  if (head.size() > kLengthBytes && head[0] == '\0') head.remove_prefix(kLengthBytes);
  return certain_if(begins_with_dictionary(head) || begins_with_profiles(head));
}

}  // namespace

constexpr Format kOtlp{
    .info = {"otlp", "OTLP profiles (OpenTelemetry) of memory, protobuf or JSON, alone or as a collector writes them",
             "*.otlp, *.pb, *.json",
             "links to traces, times of single samples, attributes beyond texts and whole numbers"},
    .sniff = sniff_otlp,
    .decode = read_otlp,
    .rank = 1};

}  // namespace snapdiff::formats
