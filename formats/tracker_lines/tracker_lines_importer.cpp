#include "formats/tracker_lines/tracker_lines_importer.hpp"

#include "formats/tracker_lines/reader.hpp"
#include "formats/tracker_lines/sniff_tracker_lines.hpp"

namespace snapdiff::formats {
constexpr Format kTrackerLines{
    .info = {"snapdiff-tracker",
             "JSON Lines of any tracker: rows, counters, objects; formats/tracker_lines says how to write it",
             "*.sdt.jsonl", "x_ keys and attrs of rows, frames, stacks, counters and objects; unknown keys"},
    .sniff = tracker_lines::sniff,
    .decode = [](Input& in, SnapshotSink& out,
                 const ReadRequest& request) { tracker_lines::read(in, out, request.violations); },
    .refusal = tracker_lines::refusal};

}  // namespace snapdiff::formats
