#include <catch2/catch.hpp>
#include <map>

#include "analyzer/store/store.hpp"
#include "support/same_content.hpp"
#include "unit/analyzer/store/made_series.hpp"
#include "unit/analyzer/store/small_snapshots.hpp"
#include "unit/analyzer/store/temporary_folder.hpp"

using namespace snapdiff;
using namespace snapdiff::store;
using snapdiff::test::difference;
using snapdiff::test::small;

namespace {

std::string sql_value(Store& store, const std::string& query) {
  std::string value;
  Store::SqlSink sink;
  sink.on_row = [&](auto row) { value += row[0].text.value_or("NULL"); };
  const Status done = store.sql(query, sink);
  return done ? value : done.error().text();
}

std::string whats_wrong(Store& store) {
  const Status sound = store.check();
  return sound ? "" : sound.error().text();
}

void remove(Store& store, const std::vector<SnapshotId>& ids) {
  const Status removed = store.remove(ids);
  if (!removed) FAIL(removed.error().text());
}

std::vector<Snapshot> made_series(std::size_t count, unsigned seed) {
  test::MadeSeries::Shape shape;
  shape.stacks = 400;
  shape.functions = 300;
  shape.added = 0.03;
  test::MadeSeries series(shape, seed);
  std::vector<Snapshot> snapshots;
  while (snapshots.size() < count) {
    snapshots.push_back(series.snapshot());
    snapshots.back().facts.source.sha256 += " seed " + std::to_string(seed);
    series.step();
  }
  return snapshots;
}

/// Every snapshot of the store, by series and source.
std::map<std::string, Snapshot> contents(Store& store) {
  std::map<std::string, Snapshot> all;
  auto listed = store.list();
  REQUIRE(listed);
  for (const SeriesInfo& series : *listed) {
    for (const SnapshotInfo& info : series.snapshots) {
      auto loaded = store.load(std::span(&info.id, 1));
      REQUIRE(loaded);
      all.emplace(series.name + "|" + info.facts.source.name, std::move(loaded->front()));
    }
  }
  return all;
}

}  // namespace

TEST_CASE("store: removing snapshots leaves the others as they were") {
  const std::vector<Snapshot> snapshots = made_series(40, 3);
  const std::vector<std::vector<int>> cases = {{0}, {16}, {39}, {7, 8, 9}, {0, 1, 2, 3, 15, 16, 17, 38}, {20}};
  const auto gone = GENERATE_COPY(from_range(cases));
  const test::TemporaryFolder folder;
  auto store = Store::open(folder.file("s.db"), Access::create);
  REQUIRE(store);
  std::vector<SnapshotId> ids;
  for (const Snapshot& snapshot : snapshots) ids.push_back(store->add(snapshot, "s")->id);

  std::vector<SnapshotId> removed;
  for (const int i : gone) removed.push_back(ids[static_cast<std::size_t>(i)]);
  remove(*store, removed);
  CHECK(whats_wrong(*store) == "");
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    CAPTURE(i);
    const auto loaded = store->load(std::span(&ids[i], 1));
    if (std::find(removed.begin(), removed.end(), ids[i]) != removed.end()) {
      REQUIRE_FALSE(loaded);
      CHECK(loaded.error().code == ErrorCode::usage);
    } else {
      REQUIRE(loaded);
      CHECK(difference(snapshots[i], loaded->front()) == "");
    }
  }
  // The store goes on growing, and never gives an id twice.
  const std::vector<Snapshot> more = made_series(3, 77);
  for (const Snapshot& snapshot : more) {
    const auto added = store->add(snapshot, "s");
    REQUIRE(added);
    CHECK(added->id > ids.back());
    CHECK(difference(snapshot, store->load(std::span(&added->id, 1))->front()) == "");
  }
  CHECK(whats_wrong(*store) == "");
}

TEST_CASE("store: pruning to the newest keeps its ids and frees the space") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("s.db");
  const std::vector<Snapshot> snapshots = made_series(30, 4);
  {
    auto store = Store::open(path, Access::create);
    REQUIRE(store);
    std::vector<SnapshotId> ids;
    for (const Snapshot& snapshot : snapshots) ids.push_back(store->add(snapshot, "s")->id);
    REQUIRE(store->add(small("large", {{std::string(300'000, 'x') + ";f", 1, 1}}), "t"));
    const std::string frames = sql_value(
        *store,
        "SELECT group_concat(id || text) FROM stack WHERE id IN (SELECT stack FROM sample WHERE snapshot = 30)");
    ids.back() = SnapshotId{31};
    remove(*store, ids);
    CHECK(frames == sql_value(*store, "SELECT group_concat(id || text) FROM stack"));
    CHECK(sql_value(*store, "SELECT count(*) FROM series") == "1");
    CHECK(sql_value(*store, "SELECT count(*) FROM source") == "1");
    CHECK(difference(snapshots.back(), store->load(std::vector{SnapshotId{30}})->front()) == "");
    CHECK(whats_wrong(*store) == "");
  }
  CHECK(std::filesystem::file_size(path) < 300'000);
}

TEST_CASE("store: when all is removed nothing is left") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  std::vector<SnapshotId> ids;
  for (unsigned seed = 1; seed < 6; ++seed) ids.push_back(store->add(test::wild(seed, 50, 3), "s", "bytes")->id);
  remove(*store, ids);
  for (const char* table : {"snapshot", "series", "source", "frame", "stack_chunk", "sample_chunk", "snapshot_total",
                            "snapshot_detail", "memory_map", "label"})
    CHECK(sql_value(*store, std::string("SELECT count(*) FROM ") + table) == "0");
  for (const char* table : {"string", "module", "function"})
    CHECK(sql_value(*store, std::string("SELECT count(*) FROM ") + table) == "1");
  CHECK(store->list()->empty());
  CHECK_FALSE(store->add(test::wild(1, 50, 3), "s")->was_present);
  CHECK(whats_wrong(*store) == "");
}

TEST_CASE("store: removing what is not there is refused and changes nothing") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  const SnapshotId id = store->add(small("1", {{"main", 1, 1}}), "s")->id;
  const Status removed = store->remove(std::vector{id, SnapshotId{99}});
  REQUIRE_FALSE(removed);
  CHECK(removed.error().code == ErrorCode::usage);
  CHECK(store->load(std::span(&id, 1)));
}

TEST_CASE("store: merging in either order gives the same contents") {
  const test::TemporaryFolder folder;
  const auto fill = [&](const std::string& name, const std::vector<Snapshot>& snapshots, const std::string& series) {
    auto store = Store::open(folder.file(name), Access::create);
    REQUIRE(store);
    for (const Snapshot& snapshot : snapshots) REQUIRE(store->add(snapshot, series));
    REQUIRE(store->add(small("both", {{"main;x", 1, 1}}), "common"));
    REQUIRE(store->add(test::wild(static_cast<unsigned>(name.size()) + 5, 60, 3), "wild", "original of " + name));
  };
  fill("a", made_series(20, 1), "first");
  fill("bb", made_series(5, 2), "second");
  std::map<std::string, Snapshot> merged[2];
  for (const int order : {0, 1}) {
    const std::string path = folder.file("merged" + std::to_string(order));
    auto store = Store::open(path, Access::create);
    REQUIRE(store);
    CHECK(store->merge(folder.file(order == 0 ? "a" : "bb")).value() == (order == 0 ? 22 : 7));
    CHECK(store->merge(folder.file(order == 0 ? "bb" : "a")).value() == (order == 0 ? 6 : 21));
    CHECK(store->merge(folder.file("a")).value() == 0);
    CHECK(store->merge(path).value() == 0);
    CHECK(whats_wrong(*store) == "");
    CHECK(sql_value(*store, "SELECT count(*) FROM source WHERE original IS NOT NULL") == "2");
    merged[order] = contents(*store);
  }
  REQUIRE(merged[0].size() == 28);
  REQUIRE(merged[1].size() == 28);
  for (const auto& [name, snapshot] : merged[0]) {
    CAPTURE(name);
    REQUIRE(merged[1].contains(name));
    CHECK(difference(snapshot, merged[1].at(name), false) == "");
  }
}

TEST_CASE("store: what cannot be merged is said of the other store") {
  const test::TemporaryFolder folder;
  auto store = Store::open(folder.file("s.db"), Access::create);
  REQUIRE(store);
  const auto merged = store->merge(folder.file("missing.db"));
  REQUIRE_FALSE(merged);
  CHECK(merged.error().code == ErrorCode::io);
  CHECK(merged.error().subject == folder.file("missing.db"));
}
