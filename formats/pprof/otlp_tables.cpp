#include "formats/pprof/otlp_tables.hpp"

namespace snapdiff::formats::pprof {
namespace {

std::string_view view_of(protozero::pbf_reader& in) {
  const protozero::data_view view = in.get_view();
  return {view.data(), view.size()};
}

OtlpTables::Mapping read_mapping(protozero::pbf_reader in) {
  OtlpTables::Mapping out;
  while (in.next()) {
    switch (in.tag()) {
      case 1: out.start = in.get_uint64(); break;
      case 2: out.limit = in.get_uint64(); break;
      case 3: out.file_offset = in.get_uint64(); break;
      case 4: out.file = in.get_int64(); break;
      case 5: read_numbers(in, out.attributes); break;
      default: in.skip();
    }
  }
  return out;
}

OtlpTables::Location read_location(protozero::pbf_reader in) {
  OtlpTables::Location out;
  while (in.next()) {
    switch (in.tag()) {
      case 1: out.mapping = in.get_int64(); break;
      case 2: out.address = in.get_uint64(); break;
      case 3: {
        OtlpTables::Line& line = out.lines.emplace_back();
        for (protozero::pbf_reader part = in.get_message(); part.next();) {
          switch (part.tag()) {
            case 1: line.function = part.get_int64(); break;
            case 2: line.line = part.get_int64(); break;
            case 3: line.column = part.get_int64(); break;
            default: part.skip();
          }
        }
        break;
      }
      default: in.skip();
    }
  }
  return out;
}

OtlpTables::Function read_function(protozero::pbf_reader in) {
  OtlpTables::Function out;
  while (in.next()) {
    switch (in.tag()) {
      case 1: out.name = in.get_int64(); break;
      case 2: out.system_name = in.get_int64(); break;
      case 3: out.file = in.get_int64(); break;
      case 4: out.start_line = in.get_int64(); break;
      default: in.skip();
    }
  }
  return out;
}

OtlpTables::Attribute read_attribute(protozero::pbf_reader in) {
  OtlpTables::Attribute out;
  while (in.next()) {
    switch (in.tag()) {
      case 1: out.key = in.get_int64(); break;
      case 2: read_any_value(in.get_message(), out); break;
      case 3: out.unit = in.get_int64(); break;
      default: in.skip();
    }
  }
  return out;
}

}  // namespace

void read_numbers(protozero::pbf_reader& in, std::vector<std::int64_t>& out) {
  if (in.wire_type() == protozero::pbf_wire_type::varint) {
    out.push_back(in.get_int64());
    return;
  }
  for (const std::int64_t number : in.get_packed_int64()) out.push_back(number);
}

void read_any_value(protozero::pbf_reader in, OtlpTables::Attribute& out) {
  while (in.next()) {
    if (in.tag() == 1) {
      out.text = view_of(in);
    } else if (in.tag() == 3) {
      out.number = in.get_int64();
      out.is_number = true;
    } else {
      in.skip();
    }
  }
}

void OtlpTables::read(std::string_view dictionary, std::uint64_t offset) {
  read_message(dictionary, offset, "dictionary", [this](protozero::pbf_reader& in) {
    while (in.next()) {
      switch (in.tag()) {
        case 1: mappings.push_back(read_mapping(in.get_message())); break;
        case 2: locations.push_back(read_location(in.get_message())); break;
        case 3: functions.push_back(read_function(in.get_message())); break;
        case 5: strings.push_back(view_of(in)); break;
        case 6: attributes.push_back(read_attribute(in.get_message())); break;
        case 7: {
          std::vector<std::int64_t>& stack = stacks.emplace_back();
          for (protozero::pbf_reader part = in.get_message(); part.next();) {
            part.tag() == 1 ? read_numbers(part, stack) : part.skip();
          }
          break;
        }
        default: in.skip();
      }
    }
  });
}

}  // namespace snapdiff::formats::pprof
