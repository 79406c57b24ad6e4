#pragma once

#include "formats/input/format.hpp"

/// One reader for each export. Throw Failure: malformed, unsupported, limit, and what Input returns.
namespace snapdiff::formats::memray {

/// First line of the CSV.
inline constexpr std::string_view kCsvHeader = "allocator,num_allocations,size,tid,thread_name,stack_trace";

/// In front of a recording.
inline constexpr std::string_view kMemrayMagic{"memray\0", 7};

/// What none of the exports says.
inline constexpr std::string_view kMomentNotTold =
    "the export does not say whether it holds the peak or what was left at the end (--leaks)";

Result<Snapshot> read_csv(Input& in);
Result<Snapshot> read_gprof2dot(Input& in);
Result<Snapshot> read_speedscope(Input& in);
Result<Snapshot> read_stats(Input& in);

/// The page of `memray flamegraph`, with --temporal a series of its moments.
bool is_flamegraph_page(std::string_view head);
void read_html(Input& in, SnapshotSink& out, const ReadRequest& request);

/// The blocks that were live at the end, or at ReadRequest::point "peak".
void read_recording(Input& in, SnapshotSink& out, const ReadRequest& request);

}  // namespace snapdiff::formats::memray
