#pragma once

#include "formats/pprof/wire.hpp"

namespace snapdiff::formats::pprof {

/// The dictionary of an OTLP message, as written: everything else refers to its tables by number, 0 being nothing.
/// Views into the message.
struct OtlpTables {
  struct Mapping {
    std::uint64_t start = 0, limit = 0, file_offset = 0;
    std::int64_t file = 0;
    std::vector<std::int64_t> attributes;
  };
  struct Function {
    std::int64_t name = 0, system_name = 0, file = 0, start_line = 0;
  };
  struct Line {
    std::int64_t function = 0, line = 0, column = 0;
  };
  struct Location {
    std::int64_t mapping = 0;
    std::uint64_t address = 0;
    std::vector<Line> lines;  ///< leaf first: all but the last are inlined
  };
  struct Attribute {
    std::int64_t key = 0, unit = 0, number = 0;
    std::string_view text;
    bool is_number = false;
  };

  std::vector<std::string_view> strings;
  std::vector<Mapping> mappings;
  std::vector<Function> functions;
  std::vector<Location> locations;
  std::vector<std::vector<std::int64_t>> stacks;  ///< of locations, leaf first
  std::vector<Attribute> attributes;

  /// Throws Failure. `offset` is where the dictionary begins.
  void read(std::string_view dictionary, std::uint64_t offset);
};

/// Row `row` of a table. Throws Failure where it has none.
template <class Table>
const auto& row_of(const Table& table, std::int64_t row, const char* what) {
  if (row < 0 || static_cast<std::uint64_t>(row) >= table.size())
    fail(ErrorCode::malformed, std::string(what) + " out of range: found " + std::to_string(row) + ", expected below " +
                                   std::to_string(table.size()) + " (the length of its table)");
  return table[static_cast<std::size_t>(row)];
}

/// Numbers of a field, one alone or many packed.
void read_numbers(protozero::pbf_reader& in, std::vector<std::int64_t>& out);

/// The text or whole number of an AnyValue; neither of other values.
void read_any_value(protozero::pbf_reader in, OtlpTables::Attribute& out);

/// One Profile of an OTLP message: one type of values, with the samples still as written.
struct OtlpProfile {
  std::int64_t type = 0, unit = 0, period_type = 0, period_unit = 0, period = 0;
  std::int64_t time_ns = 0, duration_ns = 0;
  std::vector<std::string_view> samples;
  std::vector<std::pair<std::string_view, std::string_view>> resource;  ///< of the process: keys and texts
};

/// Throws Failure.
OtlpProfile read_otlp_profile(protozero::pbf_reader in);

/// Time or samples in time, not memory.
bool is_of_time(const OtlpProfile& profile, const OtlpTables& tables);

/// Profiles of one moment in one snapshot, a column for each type. `bytes` bounds what stacks may expand to.
/// Throws Failure.
Snapshot otlp_snapshot(const std::vector<OtlpProfile>& profiles, const OtlpTables& tables, std::uint64_t bytes);

}  // namespace snapdiff::formats::pprof
