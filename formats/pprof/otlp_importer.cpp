#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/base/contains.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/pprof/otlp_json.hpp"
#include "formats/pprof/otlp_snapshot.hpp"
#include "formats/text/held_sink.hpp"
#include "formats/text/scan.hpp"

/// OpenTelemetry's ProfilesData (opentelemetry-proto, profiles/v1development of 2026), alone or framed by the lengths
/// of a collector's file exporter, or in JSON.
namespace snapdiff::formats {
namespace {

using namespace pprof;

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
    .many = "distinct stacks",
    .rank = 1};

}  // namespace snapdiff::formats
