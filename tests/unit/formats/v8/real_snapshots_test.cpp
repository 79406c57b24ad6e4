#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/base/object_graph.hpp"
#include "formats/registry.hpp"
#include "support/object_graph_text.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
namespace fs = std::filesystem;

namespace {

std::vector<std::uint64_t> ids_of(const Snapshot& snapshot, std::string_view name) {
  std::vector<std::uint64_t> out;
  const ObjectGraph& graph = *snapshot.graph;
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    if (name.empty() || (snapshot.dictionary->strings[graph.types.name[graph.type[node]]] == name &&
                         snapshot.dictionary->strings[graph.types.kind[graph.type[node]]] == "object"))
      out.push_back(graph.id[node]);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("v8: three snapshots of one process: 200 sessions a step, all others keep their ids") {
  const fs::path folder = fs::path(SNAPDIFF_SHARED_DATA) / "trackers" / "v8";
  if (!fs::exists(folder)) {
    WARN("skipped: the shared sample files are not here");
    return;
  }
  std::vector<Snapshot> steps;
  for (int step = 0; step < 3; ++step) {
    Result<std::vector<Snapshot>> all =
        formats::read_file((folder / ("node20-step" + std::to_string(step) + ".heapsnapshot.gz")).string(), {});
    if (!all) FAIL(all.error().text());
    REQUIRE(all->size() == 1);
    steps.push_back(std::move((*all)[0]));
    const Snapshot& snapshot = steps.back();
    CHECK(snapshot.facts.format == "v8-heapsnapshot");
    CHECK_FALSE(snapshot.facts.partial);
    CHECK(rows_of(snapshot).at("Session") == std::vector<std::int64_t>{200 * (step + 1), 8000 * (step + 1)});
    CHECK(rows_of(snapshot).at("Session (closure)") == std::vector<std::int64_t>{1, 64});
  }
  CHECK(steps[0].graph->size() == 39761);
  CHECK(steps[0].graph->to.size() == 179425);
  // The shared collection's own measurement: 39 686 of 39 761 ids persist from the first to the second.
  std::vector<std::uint64_t> same;
  const auto first = ids_of(steps[0], {});
  const auto second = ids_of(steps[1], {});
  std::set_intersection(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(same));
  CHECK(same.size() == 39686);
  for (std::size_t step = 0; step + 1 < 3; ++step) {
    const auto before = ids_of(steps[step], "Session");
    const auto after = ids_of(steps[step + 1], "Session");
    CHECK(std::includes(after.begin(), after.end(), before.begin(), before.end()));
  }
}
