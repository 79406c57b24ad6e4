#include "formats/pprof/otlp_snapshot.hpp"

#include <set>
#include <unordered_map>

#include "formats/input/type_row.hpp"
#include "formats/pprof/columns.hpp"
#include "formats/pprof/resolve.hpp"
#include "formats/text/printed_frame.hpp"

namespace snapdiff::formats::pprof {
namespace {

std::string_view view_of(protozero::pbf_reader& in) {
  const protozero::data_view view = in.get_view();
  return {view.data(), view.size()};
}

OtlpTables::Mapping read_mapping(protozero::pbf_reader in) {
  OtlpTables::Mapping out;
  while (in.next()) {
    if (take_number(in, out.start, out.limit, out.file_offset, out.file)) continue;
    in.tag() == 5 ? read_numbers(in, out.attributes) : in.skip();
  }
  return out;
}

OtlpTables::Location read_location(protozero::pbf_reader in) {
  OtlpTables::Location out;
  while (in.next()) {
    if (take_number(in, out.mapping, out.address)) continue;
    if (in.tag() == 3) {
      OtlpTables::Line& line = out.lines.emplace_back();
      protozero::pbf_reader part = in.get_message();
      read_numbers_of(part, line.function, line.line, line.column);
    } else {
      in.skip();
    }
  }
  return out;
}

OtlpTables::Function read_function(protozero::pbf_reader in) {
  OtlpTables::Function out;
  read_numbers_of(in, out.name, out.system_name, out.file, out.start_line);
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

constexpr std::size_t kMostColumns = 16;                        // each row has all of them
constexpr std::size_t kMostResourceLabels = 16;                 // each row may have all of them
constexpr std::uint64_t kFreeFrames = std::uint64_t{16} << 20;  // as for profile.proto

/// A type and its unit: two numbers of strings.
void read_type(protozero::pbf_reader in, std::int64_t& type, std::int64_t& unit) { read_numbers_of(in, type, unit); }

using text::number_32;

class SnapshotMaker {
 public:
  SnapshotMaker(const OtlpTables& tables, std::uint64_t bytes)
      : tables_(tables), frames_left_(kFreeFrames + 4 * bytes) {}

  Snapshot make(const std::vector<OtlpProfile>& profiles) {
    std::vector<std::size_t> column_of;
    std::vector<std::int64_t> factor_of;
    std::set<std::vector<std::pair<std::string_view, std::string_view>>> resources;
    for (const OtlpProfile& profile : profiles) {
      add_column(profile, column_of, factor_of);
      resources.insert(profile.resource);
      fill_facts(profile);
    }
    values_.assign(columns_.size(), 0);
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      std::vector<Label> shared;
      for (const auto& [key, text] : profiles[i].resource) {
        if (resources.size() > 1 && shared.size() < kMostResourceLabels)
          shared.push_back(text_label(builder_, key, text));
      }
      for (const std::string_view sample : profiles[i].samples) add_sample(sample, column_of[i], factor_of[i], shared);
    }
    if (resources.size() == 1) {
      for (const auto& [key, text] : *resources.begin())
        builder_.facts().comments.push_back(std::string(key).append(" = ").append(text));
    }
    builder_.facts().format_detail = "OTLP";
    return value_or_throw(builder_.finish());
  }

 private:
  std::string_view text(std::int64_t row) const { return row_of(tables_.strings, row, "string"); }

  void add_column(const OtlpProfile& profile, std::vector<std::size_t>& column_of,
                  std::vector<std::int64_t>& factor_of) {
    SampleType type{std::string(text(profile.type)), std::string(text(profile.unit))};
    const std::optional<std::int64_t> bytes = bytes_per(type.unit);
    if (bytes) type.unit = "bytes";
    factor_of.push_back(bytes.value_or(1));
    const auto found = std::find(columns_.begin(), columns_.end(), type.name);
    column_of.push_back(static_cast<std::size_t>(found - columns_.begin()));
    if (found != columns_.end()) return;
    if (columns_.size() == kMostColumns) fail(ErrorCode::limit, "too many sample types: expected at most 16");
    columns_.push_back(type.name);
    builder_.add_column(std::move(type));
  }

  void fill_facts(const OtlpProfile& profile) {
    SnapshotFacts& facts = builder_.facts();
    if (profile.time_ns != 0) facts.taken_at_ns = profile.time_ns;
    if (profile.duration_ns != 0) facts.duration_ns = profile.duration_ns;
    const std::optional<std::int64_t> unit = bytes_per(text(profile.period_unit));
    if (!unit || profile.period <= 0) return;
    facts.sampling = profile.period == 1 ? Sampling::exact : Sampling::poisson;
    if (__builtin_mul_overflow(profile.period, *unit, &facts.period)) facts.period = 0;
  }

  ModuleId module(std::int64_t row, const OtlpTables::Mapping& mapping) {
    const auto [known, is_new] = modules_.try_emplace(row);
    if (!is_new) return known->second;
    std::string_view build_id;
    for (const std::int64_t of : mapping.attributes) {
      const OtlpTables::Attribute& attribute = row_of(tables_.attributes, of, "attribute");
      if (text(attribute.key) == "process.executable.build_id.gnu") build_id = attribute.text;
    }
    known->second = builder_.module(text(mapping.file), build_id);
    if (mapping.limit > mapping.start)
      builder_.add_mapping({mapping.start, mapping.limit, mapping.file_offset, known->second});
    return known->second;
  }

  FunctionId function(std::int64_t row) {
    const OtlpTables::Function& function = row_of(tables_.functions, row, "function");
    const auto [known, is_new] = functions_.try_emplace(row);
    if (is_new)
      known->second =
          builder_.function(builder_.string(text(function.name)), builder_.string(text(function.system_name)),
                            builder_.string(text(function.file)), number_32(function.start_line));
    return known->second;
  }

  void add_location(std::int64_t row) {
    const OtlpTables::Location& location = row_of(tables_.locations, row, "location");
    const std::size_t count = std::max<std::size_t>(location.lines.size(), 1);
    if (count > frames_left_ || frames_.size() + count > kMaxStackFrames)
      fail(ErrorCode::limit, "stacks expand to more frames than 16 Mi and 4 for each byte of input");
    frames_left_ -= count;
    FrameSpec place;
    if (location.address != 0) place.offset = location.address;
    if (location.mapping != 0) {
      const OtlpTables::Mapping& mapping = row_of(tables_.mappings, location.mapping, "mapping");
      place.module = module(location.mapping, mapping);
      if (location.address != 0) place.offset = location.address - mapping.start + mapping.file_offset;
    }
    if (location.lines.empty()) frames_.push_back(builder_.frame(place));
    for (std::size_t i = 0; i < location.lines.size(); ++i) {
      const OtlpTables::Line& line = location.lines[i];
      FrameSpec frame = place;
      frame.function = function(line.function);
      frame.line = number_32(line.line);
      frame.column = number_32(line.column);
      frame.flags = i + 1 < location.lines.size() ? kFrameInlined : std::uint8_t{0};
      frames_.push_back(builder_.frame(frame));
    }
  }

  StackId stack(std::int64_t row) {
    const std::vector<std::int64_t>& locations = row_of(tables_.stacks, row, "stack");
    const auto [known, is_new] = stacks_.try_emplace(row);
    if (is_new) {
      frames_.clear();
      for (const std::int64_t location : locations) add_location(location);
      known->second = builder_.stack(frames_);
    }
    return known->second;
  }

  void add_sample(std::string_view bytes, std::size_t column, std::int64_t factor, const std::vector<Label>& shared) {
    std::int64_t stack_row = 0, sum = 0;
    std::size_t moments = 0;
    std::vector<std::int64_t> attributes, values;
    protozero::pbf_reader in(bytes.data(), bytes.size());
    while (in.next()) {
      switch (in.tag()) {
        case 1: stack_row = in.get_int64(); break;
        case 2: read_numbers(in, attributes); break;
        case 4: read_numbers(in, values); break;
        case 5: {
          const bool is_packed = in.wire_type() == protozero::pbf_wire_type::length_delimited;
          moments += is_packed ? in.get_view().size() / sizeof(std::uint64_t) : 1;
          if (!is_packed) in.skip();
          break;
        }
        default: in.skip();
      }
    }
    // Samples without values count their times.
    if (values.empty()) values.push_back(static_cast<std::int64_t>(moments));
    for (std::int64_t value : values) {
      if (__builtin_mul_overflow(value, factor, &value) || !checked_add(sum, value, sum))
        fail(ErrorCode::limit, "values beyond 2^63-1, expected them to fit in 64 bits");
    }
    if (sum < 0) builder_.facts().is_diff = true;
    values_[column] = sum;
    builder_.add_row(stack(stack_row), labels(attributes, shared), values_);
    values_[column] = 0;
  }

  /// Without a key where the attribute has no value that is kept.
  const Label& label(std::int64_t row) {
    const OtlpTables::Attribute& attribute = row_of(tables_.attributes, row, "attribute");
    const auto [known, is_new] = labels_.try_emplace(row);
    if (is_new && attribute.is_number) {
      known->second = {builder_.string(text(attribute.key)), StringId{}, attribute.number,
                       builder_.string(text(attribute.unit)), true};
    } else if (is_new && !attribute.text.empty()) {
      known->second = text_label(builder_, text(attribute.key), attribute.text);
    }
    return known->second;
  }

  LabelSetId labels(const std::vector<std::int64_t>& attributes, std::vector<Label> set) {
    for (const std::int64_t row : attributes) {
      if (const Label& one = label(row); one.key != StringId{}) set.push_back(one);
    }
    return builder_.labels(std::move(set));
  }

  const OtlpTables& tables_;
  SnapshotBuilder builder_;
  std::uint64_t frames_left_;
  std::vector<std::string> columns_;
  std::vector<std::int64_t> values_;
  // Rows of the tables that the builder has: a message may have more of them than this moment needs.
  std::unordered_map<std::int64_t, ModuleId> modules_;
  std::unordered_map<std::int64_t, FunctionId> functions_;
  std::unordered_map<std::int64_t, StackId> stacks_;
  std::unordered_map<std::int64_t, Label> labels_;
  std::vector<FrameId> frames_;
};

}  // namespace

OtlpProfile read_otlp_profile(protozero::pbf_reader in) {
  OtlpProfile out;
  while (in.next()) {
    switch (in.tag()) {
      case 1: read_type(in.get_message(), out.type, out.unit); break;
      case 2: {
        const protozero::data_view sample = in.get_view();
        out.samples.emplace_back(sample.data(), sample.size());
        break;
      }
      case 3: out.time_ns = static_cast<std::int64_t>(in.get_fixed64()); break;
      case 4: out.duration_ns = in.get_int64(); break;
      case 5: read_type(in.get_message(), out.period_type, out.period_unit); break;
      case 6: out.period = in.get_int64(); break;
      default: in.skip();
    }
  }
  return out;
}

bool is_of_time(const OtlpProfile& profile, const OtlpTables& tables) {
  const std::string_view type = row_of(tables.strings, profile.type, "string");
  const std::string_view unit = row_of(tables.strings, profile.unit, "string");
  const std::string_view period = row_of(tables.strings, profile.period_unit, "string");
  return unit.ends_with("seconds") || unit == "cycles" || type == "samples" || type == "cpu" || type == "events" ||
         period.ends_with("seconds");
}

Snapshot otlp_snapshot(const std::vector<OtlpProfile>& profiles, const OtlpTables& tables, std::uint64_t bytes) {
  return SnapshotMaker(tables, bytes).make(profiles);
}

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
          for (protozero::pbf_reader part = in.get_message(); part.next();)
            part.tag() == 1 ? read_numbers(part, stack) : part.skip();
          break;
        }
        default: in.skip();
      }
    }
  });
}

}  // namespace snapdiff::formats::pprof
