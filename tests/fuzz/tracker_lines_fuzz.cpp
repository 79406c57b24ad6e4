// Any bytes as a tracker dump, read and checked; the graphs that come out must hold.
#include <algorithm>

#include "analyzer/base/object_graph.hpp"
#include "formats/input/all_formats.hpp"
#include "fuzz/fuzz_format.hpp"
#include "fuzz/fuzz_targets.hpp"

using namespace snapdiff;

void snapdiff::test::fuzz_tracker_lines(const std::uint8_t* data, std::size_t size) {
  test::fuzz_format(formats::kTrackerLines, data, size);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  test::MemoryInput in(bytes);
  SnapshotList list;
  std::uint64_t told = 0;
  const Status checked = formats::kTrackerLines.read(in, list, {.violations = [&told](const Violation&) {
                                                       ++told;
                                                       return true;
                                                     }});
  for (const Snapshot& snapshot : list.snapshots) {
    if (snapshot.graph != nullptr && !validate(*snapshot.graph, *snapshot.dictionary)) std::abort();
    // What is lost is told.
    const auto& notes = snapshot.facts.notes.all();
    const bool lossy =
        std::any_of(notes.begin(), notes.end(), [](const Note& note) { return note.severity == Severity::data_loss; });
    if (checked && lossy && told == 0) std::abort();
  }
}
