// Any bytes through the importer, whole and in windows; what is read must be a valid graph.
#include "analyzer/base/object_graph.hpp"
#include "formats/input/all_formats.hpp"
#include "fuzz/fuzz_format.hpp"
#include "fuzz/fuzz_targets.hpp"

using namespace snapdiff;

void snapdiff::test::fuzz_v8(const std::uint8_t* data, std::size_t size) {
  test::fuzz_format(formats::kV8, data, size);
  test::MemoryInput in(std::string_view(reinterpret_cast<const char*>(data), size));
  SnapshotList list;
  if (!formats::kV8.read(in, list)) return;
  for (const Snapshot& snapshot : list.snapshots) {
    if (snapshot.graph == nullptr || !validate(*snapshot.graph, *snapshot.dictionary)) std::abort();
  }
}
