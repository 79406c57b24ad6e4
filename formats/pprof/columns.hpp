#pragma once

#include "formats/pprof/profile_tables.hpp"

namespace snapdiff::formats::pprof {

/// What becomes of one sample type.
struct ColumnPlan {
  SampleType type;           ///< canonical name and unit
  std::string written_name;  ///< as in the file
  std::int64_t factor = 1;   ///< values are multiplied by it: kilobytes become bytes
};

/// One plan per sample type of the file, in its order; names are unique.
/// Throws Failure.
std::vector<ColumnPlan> plan_columns(const ProfileTables& tables);

/// Bytes in one `unit` (KB, megabytes, ...: 1024-based, any case, plural or not), or nothing when
/// it is no unit of memory.
std::optional<std::int64_t> bytes_per(std::string_view unit);

}  // namespace snapdiff::formats::pprof
