#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/pprof/otlp_tables.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::formats::pprof {

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
