#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "analyzer/objects/retained_objects.hpp"
#include "analyzer/objects/root_set.hpp"
#include "formats/registry.hpp"
#include "graphs.hpp"

using namespace snapdiff;

namespace {

/// Three steps of one process, or nothing where the shared collection is absent.
std::vector<SnapshotRef> series(const std::string& stem, const std::string& ending, int steps = 3) {
  std::vector<SnapshotRef> out;
  for (int step = 0; step < steps; ++step) {
    const std::string path = std::string(SNAPDIFF_SHARED_DATA) + "/trackers/" + stem + std::to_string(step) + ending;
    if (!std::filesystem::exists(path)) {
      WARN("skipped: " << stem << step << ending << " is not there");
      return {};
    }
    auto read = formats::read_file(path, {});
    REQUIRE(read);
    SnapshotRef ref;
    ref.snapshot = std::make_shared<const Snapshot>(std::move(read->back()));
    ref.ref = path;
    REQUIRE(ref.snapshot->graph != nullptr);
    out.push_back(std::move(ref));
  }
  return out;
}

const RetainedRow& row_of(const RetainedReport& report, std::string_view kind, std::string_view type) {
  for (const RetainedRow& row : report.rows) {
    if (row.type == type && (kind.empty() || row.kind == kind)) return row;
  }
  FAIL("no row of " << type);
  return report.rows.front();
}

std::vector<std::int64_t> objects_at(const RetainedRow& row) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < row.at.size(); ++i) out.push_back(row.at[i].self.objects);
  return out;
}

bool holds(const GrowingPlace& place, std::string_view type, std::int64_t step) {
  for (const GrowingPlace::Held& held : place.held) {
    if (held.step.type == type && held.at[1].objects - held.at[0].objects == step &&
        held.at[2].objects - held.at[1].objects == step)
      return true;
  }
  return false;
}

std::string text_of(const std::vector<PathStep>& path) {
  std::string text;
  for (const PathStep& step : path) text += "." + step.label + ":" + step.type;
  return text;
}

/// Delete 1000 nodes, one after the other, and count what the roots do not reach any more.
void check_by_removal(const Snapshot& snapshot, unsigned seed) {
  const ObjectGraph& graph = *snapshot.graph;
  const std::vector<std::uint32_t> roots = objects::find_roots(graph).nodes;
  const auto tree = objects::dominator_tree(graph, roots);
  REQUIRE(tree);
  const std::vector<bool> all = objects_test::reach(graph, roots);
  REQUIRE(static_cast<std::size_t>(std::count(all.begin(), all.end(), true)) == tree->size());
  std::mt19937 random(seed);
  bool same = true;
  for (int i = 0; i < 1000 && same; ++i) {
    // Every second one of the heaviest part of the tree, which random places rarely meet.
    const std::size_t place =
        i % 2 == 0 ? random() % tree->size() : random() % std::min<std::size_t>(tree->size(), 2000);
    const std::vector<bool> left = objects_test::reach(graph, roots, tree->order[place]);
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    for (std::size_t node = 0; node < graph.size(); ++node) {
      if (!all[node] || left[node]) continue;
      ++count;
      bytes += graph.self_bytes.empty() ? 0 : graph.self_bytes[node];
    }
    same = count == tree->objects[place] && bytes == tree->retained_bytes(place);
    CAPTURE(place, tree->order[place], count, bytes);
    CHECK(same);
  }
}

}  // namespace

TEST_CASE("real V8 snapshots: 200 sessions more with each, in the registry's table") {
  const std::vector<SnapshotRef> snapshots = series("v8/node20-step", ".heapsnapshot.gz");
  if (snapshots.empty()) return;
  const auto report = objects::retained(snapshots);
  REQUIRE(report);
  const RetainedRow& sessions = row_of(*report, "object", "Session");
  CHECK(objects_at(sessions) == std::vector<std::int64_t>{200, 400, 600});
  CHECK(sessions.last().self.bytes == 600 * 40);
  REQUIRE(report->fresh);
  CHECK(sessions.fresh.objects == 200);  // those of the second snapshot; of the third nobody knows yet

  const auto paths = objects::paths(snapshots, {"^Session$", 200});
  REQUIRE(paths);
  const auto place = std::find_if(paths->growing.begin(), paths->growing.end(),
                                  [](const GrowingPlace& p) { return holds(p, "Session", 200); });
  REQUIRE(place != paths->growing.end());
  INFO(text_of(place->path));
  CHECK_THAT(text_of(place->path), Catch::Contains(".registry:Map.table:"));
  REQUIRE(place->exclusive_bytes);
  CHECK(*place->exclusive_bytes >= 600 * 40);
}

TEST_CASE("real JVM dumps: 500 sessions more with each, in a map") {
  const std::vector<SnapshotRef> snapshots = series("jvm/jdk17-step", ".hprof.gz");
  if (snapshots.empty()) return;
  const auto report = objects::retained(snapshots);
  REQUIRE(report);
  CHECK(objects_at(row_of(*report, "", "JLeak$Session")) == std::vector<std::int64_t>{500, 1000, 1500});
  CHECK_FALSE(report->fresh);  // addresses move
  const auto paths = objects::paths(snapshots, {"^JLeak\\$Session$", 500});
  REQUIRE(paths);
  REQUIRE_FALSE(paths->rows.empty());
  CHECK(paths->rows[0].growing >= 0);
  std::int64_t last = 0;
  for (const PathRow& row : paths->rows) last += row.at.back().objects;
  CHECK(last == 1500);
}

// A case each: a thousand searches of every snapshot take their time.
TEST_CASE("real V8 snapshots: retained is what goes when an object is deleted") {
  unsigned seed = 1;
  for (const SnapshotRef& ref : series("v8/node20-step", ".heapsnapshot.gz")) check_by_removal(*ref.snapshot, seed++);
}

TEST_CASE("real JVM dumps: retained is what goes when an object is deleted") {
  unsigned seed = 1;
  for (const SnapshotRef& ref : series("jvm/jdk17-step", ".hprof.gz")) check_by_removal(*ref.snapshot, seed++);
}

TEST_CASE("real objgraph references: retained is what goes when an object is deleted") {
  unsigned seed = 1;
  for (const SnapshotRef& ref : series("objgraph/refs-step", ".dot")) check_by_removal(*ref.snapshot, seed++);
}
