#include "formats/tracemalloc/read_dumps.hpp"
#include "formats/tracemalloc/read_lists.hpp"
#include "formats/tracemalloc/sniff_tracemalloc.hpp"
#include "formats/tracemalloc/tracemalloc_importers.hpp"

namespace snapdiff::formats {
constexpr Format kTracemalloc{
    .info = {"tracemalloc", "Snapshot.dump() of Python's tracemalloc (a pickle; read, never executed)",
             "*.tracemalloc, *.pickle, *.dump", "single blocks: they are added up by stack and domain"},
    .sniff = tracemalloc::sniff_dump,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { tracemalloc::read_dumps(in, out); }};

constexpr Format kTracemallocText{
    .info = {"tracemalloc-text", "printed statistics of Python's tracemalloc, also compare_to() and display_top",
             "*.txt, *.log", "averages, source lines, all other text"},
    .sniff = tracemalloc::sniff_text,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { tracemalloc::read_lists(in, out); },
    .many = "distinct stacks"};

}  // namespace snapdiff::formats
