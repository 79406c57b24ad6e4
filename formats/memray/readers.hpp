#pragma once

#include <string_view>

#include "snapdiff/importer.hpp"

/// One reader for each export. Throw Failure: malformed, unsupported, limit, and what Input returns.
namespace snapdiff::formats::memray {

/// First line of the CSV.
inline constexpr std::string_view kCsvHeader = "allocator,num_allocations,size,tid,thread_name,stack_trace";

/// What none of the exports says.
inline constexpr std::string_view kMomentNotTold =
    "the export does not say whether it holds the peak or what was left at the end (--leaks)";

Result<Snapshot> read_csv(Input& in);
Result<Snapshot> read_gprof2dot(Input& in);
Result<Snapshot> read_speedscope(Input& in);
Result<Snapshot> read_stats(Input& in);

}  // namespace snapdiff::formats::memray
