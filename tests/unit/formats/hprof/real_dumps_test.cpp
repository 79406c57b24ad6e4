#include <catch2/catch.hpp>

#include <filesystem>
#include <string>

#include "analyzer/base/object_graph.hpp"
#include "formats/registry.hpp"
#include "support/object_graph_text.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
namespace fs = std::filesystem;

TEST_CASE("hprof: three dumps of one process grow as the program that was run says") {
  const fs::path folder = fs::path(SNAPDIFF_SHARED_DATA) / "trackers" / "jvm";
  if (!fs::exists(folder)) {
    WARN("skipped: the shared sample files are not here");
    return;
  }
  std::vector<Rows> steps;
  for (int step = 0; step < 3; ++step) {
    Result<std::vector<Snapshot>> all =
        formats::read_file((folder / ("jdk17-step" + std::to_string(step) + ".hprof.gz")).string(), {});
    if (!all) FAIL(all.error().text());
    REQUIRE(all->size() == 1);
    const Snapshot& snapshot = (*all)[0];
    CHECK(snapshot.facts.format == "hprof");
    CHECK(snapshot.facts.taken_at_ns.has_value());
    steps.push_back(rows_of(snapshot));
    CHECK(steps.back().at("JLeak$Session") == std::vector<std::int64_t>{500 * (step + 1), 12'000 * (step + 1)});
  }
  for (std::size_t step = 1; step < 3; ++step) {
    const auto growth = [&](const std::string& name, std::size_t column) {
      return steps[step].at(name)[column] - steps[step - 1].at(name)[column];
    };
    CHECK(growth("[B", 0) == 500);
    CHECK(growth("[B", 1) == 136'000);
    CHECK(growth("[J", 0) == 40);
    CHECK(growth("[J", 1) == 320'640);
    CHECK(growth("java.util.HashMap$Node", 0) == 500);
  }
  CHECK(steps[0].at("[J")[0] == 45);
}
