#include "formats/input/all_formats.hpp"
#include "formats/pprof/profile_reader.hpp"
#include "formats/pprof/samples.hpp"

namespace snapdiff::formats {
namespace {

using namespace pprof;

/// Signs for and against a profile.
struct Signs {
  int known_fields = 0;
  int unknown_fields = 0;
  int filled_messages = 0;  // known messages that hold something and decode to their end
  bool empty_string_first = false;
  bool broken = false;
};

/// Decodes one field as read_profile() would; throws what that would throw.
void try_field(const Field& field, ProfileTables& tables, Signs& signs) {
  if (field.number > 15) {
    ++signs.unknown_fields;
    return;
  }
  if (field.number == 2 && field.wire == 2) {
    SampleParts parts;
    parts.decode(field.payload, 0, [](const char*, const char*) {});
  } else {
    const bool first_string = field.number == 6 && tables.strings.size() == 0;
    tables.take(field);
    signs.empty_string_first = signs.empty_string_first || first_string;
  }
  ++signs.known_fields;
  const bool is_message = field.number <= 5 || field.number == 11;
  if (is_message && !field.payload.empty()) ++signs.filled_messages;
}

Signs read_signs(std::string_view head) {
  Signs signs;
  ProfileTables tables;
  FieldStream fields(head);
  Field field;
  try {
    while (fields.next(field)) try_field(field, tables, signs);
  } catch (const Failure&) {
    signs.broken = true;
  }
  return signs;
}

/// Whether the break may just be the end of the head: the last field reaches beyond it.
bool cut_by_head(std::string_view head) {
  if (head.size() < kSniffBytes) return false;
  FieldStream fields(head);
  Field field;
  std::uint64_t behind = 0;
  try {
    while (fields.next(field)) behind = field.payload_offset + field.payload.size();
  } catch (const Failure&) {
  }
  const char* p = head.data() + behind;
  const char* const end = head.data() + head.size();
  if (end - p < 20) return true;
  try {
    const std::uint64_t tag = protozero::decode_varint(&p, end);
    const std::uint64_t length = protozero::decode_varint(&p, end);
    return (tag & 7) == 2 && tag >> 3 != 0 && length > static_cast<std::uint64_t>(end - p) && length < (1ULL << 31);
  } catch (const protozero::exception&) {
    return false;
  }
}

/// As Format::sniff(): certain when the head is fields of a profile from end to end; possible
/// when it begins so and breaks later, so that a damaged profile is reported as that and not as an
/// unknown file.
Match sniff_profile(std::string_view head) {
  const Signs signs = read_signs(head);
  const bool begins_well = signs.filled_messages > 0 || signs.empty_string_first;
  if (!begins_well)
    return signs.known_fields == 0 && cut_by_head(head) && head[0] == '\x12' ? Match::possible : Match::no;
  if (signs.unknown_fields > signs.known_fields) return Match::no;
  return !signs.broken || cut_by_head(head) ? Match::certain : Match::possible;
}

}  // namespace

constexpr Format kPprof{
    .info = {"pprof", "profile.proto of google/pprof: Go, Node.js, Rust, tcmalloc, and what pprof saves",
             "*.pb.gz, *.pb, *.pprof, *.prof",
             "flags of mappings and locations; number labels that are 0 without a unit"},
    .sniff = sniff_profile,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest& request) {
      value_or_throw(read_profile(in, out, {.held_stacks = request.held_stacks}));
    }};

}  // namespace snapdiff::formats
