#include "formats/pprof/profile_tables.hpp"

namespace snapdiff::formats::pprof {
namespace {

// A record takes up to 14 times as much memory as it has bytes in the file. The largest real
// profiles hold a few hundred mappings and less than a million of the others.
constexpr std::size_t kMaxSampleTypes = 256;
constexpr std::size_t kMaxMappings = 1'000'000;
constexpr std::size_t kMaxFunctions = 16'000'000;
constexpr std::size_t kMaxLocations = 32'000'000;
constexpr std::size_t kMaxLines = 64'000'000;
constexpr std::size_t kMaxComments = 65'536;
constexpr std::size_t kMaxStrings = 64'000'000;
constexpr std::uint64_t kMaxStringBytes = std::uint64_t{1} << 30;

void check_room(std::size_t rows, std::size_t most, std::uint64_t offset, const char* what) {
  if (rows < most) return;
  fail(ErrorCode::limit, std::string("too many ") + what + ": expected at most " + std::to_string(most), offset);
}

template <class Row>
void add(std::vector<Row>& table, Row row, std::size_t most, std::uint64_t offset, const char* what) {
  check_room(table.size(), most, offset, what);
  table.push_back(std::move(row));
}

void check_id(std::uint64_t id, std::uint64_t offset, const char* reserved) {
  if (id == 0) fail_malformed(std::string("found ") + reserved + ", expected a positive id", offset);
}

/// Line numbers of the model have 32 bits; a larger or negative one is damage that costs nothing.
std::int32_t small_number(std::int64_t value, Notes& notes, std::uint64_t offset) {
  if (value >= 0 && value <= std::numeric_limits<std::int32_t>::max()) return static_cast<std::int32_t>(value);
  notes.add(Severity::info, "line or column number out of range, taken as unknown", offset);
  return 0;
}

RawValueType read_value_type(const Field& field) {
  RawValueType out;
  out.offset = field.offset;
  read_message(field.payload, field.payload_offset, "value type",
               [&](protozero::pbf_reader& in) { read_numbers_of(in, out.type, out.unit); });
  return out;
}

RawMapping read_mapping(const Field& field) {
  RawMapping out;
  out.offset = field.offset;
  std::uint64_t has = 0;  // functions, file names, line numbers, inlined frames: the lines themselves say
  read_message(field.payload, field.payload_offset, "mapping", [&](protozero::pbf_reader& in) {
    read_numbers_of(in, out.id, out.start, out.limit, out.file_offset, out.file_name, out.build_id, has, has, has, has);
  });
  check_id(out.id, field.offset, "mapping with reserved ID=0");
  return out;
}

RawFunction read_function(const Field& field, Notes& notes) {
  RawFunction out;
  out.offset = field.offset;
  std::int64_t line = 0;
  read_message(field.payload, field.payload_offset, "function", [&](protozero::pbf_reader& in) {
    read_numbers_of(in, out.id, out.name, out.system_name, out.file_name, line);
  });
  out.start_line = small_number(line, notes, field.offset);
  check_id(out.id, field.offset, "function with reserved ID=0");
  return out;
}

RawLine read_line(protozero::pbf_reader in, Notes& notes, std::uint64_t offset) {
  std::uint64_t function = 0;
  std::int64_t line = 0, column = 0;
  read_numbers_of(in, function, line, column);
  return {function, small_number(line, notes, offset), small_number(column, notes, offset)};
}

RawLocation read_location(const Field& field, std::vector<RawLine>& lines, Notes& notes) {
  RawLocation out;
  out.offset = field.offset;
  out.first_line = static_cast<std::uint32_t>(lines.size());
  read_message(field.payload, field.payload_offset, "location", [&](protozero::pbf_reader& in) {
    while (in.next()) {
      if (take_number(in, out.id, out.mapping_id, out.address)) continue;
      switch (in.tag_and_type()) {
        case bytes_field(4):
          add(lines, read_line(in.get_message(), notes, field.offset), kMaxLines, field.offset, "lines of locations");
          break;
        case varint_field(5): out.folded = in.get_uint64() != 0; break;
        default: skip_unknown(in, 5);
      }
    }
  });
  check_id(out.id, field.offset, "location with reserved id=0");
  return out;
}

void read_comments(const Field& field, std::vector<std::int64_t>& out) {
  if (field.wire == 0) return add(out, static_cast<std::int64_t>(field.value), kMaxComments, field.offset, "comments");
  const char* p = field.payload.data();
  const char* const end = p + field.payload.size();
  try {
    while (p != end)
      add(out, static_cast<std::int64_t>(protozero::decode_varint(&p, end)), kMaxComments, field.offset, "comments");
  } catch (const protozero::exception& error) {
    fail_malformed(std::string("comment cannot be decoded: ") + error.what() + ", expected packed varints",
                   field.offset);
  }
}

}  // namespace

void fail_wire_type(const Field& field) {
  fail_malformed("type mismatch: field " + std::to_string(field.number) + " has wire type " +
                     std::to_string(field.wire) + ", expected another",
                 field.offset);
}

void ProfileTables::take(const Field& field) {
  const auto number = static_cast<std::int64_t>(field.value);
  switch (field.number << 3 | field.wire) {
    case bytes_field(1):
      add(sample_types, read_value_type(field), kMaxSampleTypes, field.offset, "sample types");
      break;
    case bytes_field(3): add(mappings, read_mapping(field), kMaxMappings, field.offset, "mappings"); break;
    case bytes_field(4):
      add(locations, read_location(field, lines, notes), kMaxLocations, field.offset, "locations");
      break;
    case bytes_field(5): add(functions, read_function(field, notes), kMaxFunctions, field.offset, "functions"); break;
    case bytes_field(6):
      if (strings.size() == 0 && !field.payload.empty())
        fail_malformed("string_table[0] must be '': it is " + std::to_string(field.payload.size()) +
                           " bytes long, expected an empty text",
                       field.offset);
      check_room(strings.size(), kMaxStrings, field.offset, "strings");
      if (strings.byte_count() + field.payload.size() > kMaxStringBytes)
        fail(ErrorCode::limit, "string table too long: expected at most 1 GiB", field.offset);
      strings.append(field.payload);
      break;
    case varint_field(7): drop_frames = number; break;
    case varint_field(8): keep_frames = number; break;
    case varint_field(9):
      if (time_ns != 0)
        fail_malformed("concatenated profiles detected: a second time_nanos, expected one profile in a file",
                       field.offset);
      time_ns = number;
      break;
    case varint_field(10): duration_ns = number; break;
    case bytes_field(11): period_type = read_value_type(field); break;
    case varint_field(12): period = number; break;
    case varint_field(13):
    case bytes_field(13): read_comments(field, comments); break;
    case varint_field(14): default_sample_type = number; break;
    case varint_field(15): doc_url = number; break;
    default:
      if (field.number <= 15) fail_wire_type(field);
  }
}

std::string_view ProfileTables::text(std::int64_t index, std::uint64_t offset) const {
  if (index < 0 || static_cast<std::uint64_t>(index) >= strings.size())
    fail_malformed("string index out of range: " + std::to_string(index) + ", the string table has " +
                       std::to_string(strings.size()) + " entries",
                   offset);
  return strings[static_cast<std::size_t>(index)];
}

}  // namespace snapdiff::formats::pprof
