#include <catch2/catch.hpp>
#include <limits>

#include "analyzer/store/store.hpp"
#include "support/same_content.hpp"
#include "unit/analyzer/store/made_series.hpp"
#include "unit/analyzer/store/small_snapshots.hpp"
#include "unit/analyzer/store/temporary_folder.hpp"

// Import, store and load again is identity, whatever the model holds.

using namespace snapdiff;
using namespace snapdiff::store;
using snapdiff::test::difference;

namespace {

SnapshotId add(Store& store, const Snapshot& snapshot, const std::string& series = "s") {
  auto imported = store.add(snapshot, series);
  if (!imported) FAIL(imported.error().text());
  CHECK_FALSE(imported->was_present);
  return imported->id;
}

std::vector<Snapshot> load(Store& store, const std::vector<SnapshotId>& ids) {
  auto loaded = store.load(ids);
  if (!loaded) FAIL(loaded.error().text());
  return std::move(loaded).value();
}

/// Stores all in one series, opens the file again and compares each.
void check_identity(const std::vector<Snapshot>& snapshots) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("store.db");
  std::vector<SnapshotId> ids;
  {
    auto store = Store::open(path, Access::create);
    REQUIRE(store);
    for (const Snapshot& snapshot : snapshots) ids.push_back(add(*store, snapshot));
    const std::vector<Snapshot> at_once = load(*store, ids);
    for (std::size_t i = 0; i < snapshots.size(); ++i) CHECK(difference(snapshots[i], at_once[i], false) == "");
  }
  auto store = Store::open(path, Access::read);
  REQUIRE(store);
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    const std::vector<Snapshot> loaded = load(*store, {ids[i]});
    CAPTURE(i);
    CHECK(difference(snapshots[i], loaded[0], i == 0) == "");
  }
  const Status sound = store->check();
  CHECK((sound ? "" : sound.error().text()) == "");
}

Snapshot with_values(const std::string& name, const std::vector<std::int64_t>& objects,
                     const std::vector<std::int64_t>& bytes) {
  std::vector<test::SmallRow> rows;
  for (std::size_t i = 0; i < objects.size(); ++i) rows.push_back({test::numbered("main;f", i), objects[i], bytes[i]});
  return test::small(name, rows);
}

}  // namespace

TEST_CASE("store: a snapshot comes back as it was") {
  check_identity({test::small("a", {{"main;parse;alloc", 3, 300}, {"main;alloc", 1, 7}, {"main", 0, 1}})});
}

TEST_CASE("store: an empty snapshot comes back empty") { check_identity({test::small("empty", {})}); }

TEST_CASE("store: a snapshot without columns comes back") {
  SnapshotBuilder builder;
  auto made = builder.finish();
  REQUIRE(made);
  check_identity({*made});
}

TEST_CASE("store: whatever a model may hold comes back") {
  const unsigned seed = GENERATE(range(1U, 26U));
  CAPTURE(seed);
  check_identity({test::wild(seed, seed * 17, seed % 11)});
}

TEST_CASE("store: unlike snapshots of one series come back") {
  std::vector<Snapshot> snapshots;
  for (unsigned seed = 100; seed < 140; ++seed) snapshots.push_back(test::wild(seed, seed % 7 * 40, 1 + seed / 10 % 3));
  check_identity(snapshots);
}

TEST_CASE("store: a series longer than the distance of two keys comes back") {
  test::MadeSeries::Shape shape;
  shape.stacks = 300;
  shape.functions = 200;
  test::MadeSeries series(shape, 5);
  std::vector<Snapshot> snapshots;
  for (int i = 0; i < 40; ++i) {
    snapshots.push_back(series.snapshot());
    series.step();
  }
  check_identity(snapshots);
}

TEST_CASE("store: chunks full to the last row come back") {
  test::MadeSeries::Shape shape;
  shape.stacks = GENERATE(16383U, 16384U, 16385U, 40000U);
  shape.functions = 500;
  shape.min_depth = 3;
  shape.max_depth = 9;
  test::MadeSeries series(shape, 9);
  const Snapshot first = series.snapshot();
  series.step();
  check_identity({first, series.snapshot()});
}

TEST_CASE("store: values at the ends of 64 bits come back") {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  // Within a column the values must add up; from one snapshot to the next they may jump as they like.
  check_identity({with_values("1", {kMax, -kMax, 1}, {kMin, kMax, 1}),
                  with_values("2", {-1, kMax, kMin}, {kMax, 0, kMin}), with_values("3", {1, 0, 3}, {kMax, 0, kMin}),
                  with_values("4", {kMax, -2, kMin}, {-1, kMax, kMin}),
                  with_values("5", {2, -kMax, kMax}, {kMax, kMin, -3})});
}

TEST_CASE("store: a row that goes and comes again is what it was") {
  check_identity({with_values("1", {5, 6}, {50, 66}), with_values("2", {5}, {50}), with_values("3", {0, 6}, {0, 66}),
                  with_values("4", {}, {}), with_values("5", {5, 6}, {50, 66})});
}

TEST_CASE("store: unknown values stay unknown, and become known again") {
  const auto make = [](const std::string& name, std::vector<std::uint8_t> known) {
    SnapshotBuilder b;
    for (std::size_t c = 0; c < 10; ++c) b.add_column({test::numbered("m", c), "count"}, 512);
    for (unsigned row = 0; row < 5; ++row) {
      std::vector<std::int64_t> values(10, std::int64_t{row} + 1);
      b.add_row(test::folded(b, test::numbered("main;f", row)), LabelSetId{}, values, known);
      std::rotate(known.begin(), known.begin() + 1, known.end());
    }
    b.facts().source.name = name;
    b.facts().source.sha256 = name;
    auto made = b.finish();
    REQUIRE(made);
    return *made;
  };
  check_identity({make("1", {0, 1, 1, 1, 1, 1, 1, 1, 1, 0}), make("2", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
                  make("3", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), make("4", {1, 0, 1, 0, 1, 0, 1, 0, 1, 0})});
}

TEST_CASE("store: a stack of 300 000 frames comes back") {
  SnapshotBuilder b;
  b.add_column({"inuse_space", "bytes"});
  std::vector<FrameId> deep;
  for (unsigned i = 0; i < 300'000; ++i) {
    SnapshotBuilder::FrameSpec spec;
    const StringId name = b.string(test::numbered("f", i % 1000));
    spec.function = b.function(name, name, StringId{}, 0);
    deep.push_back(b.frame(spec));
  }
  const std::int64_t value = 1;
  for (int i = 0; i < 20; ++i) {
    deep.pop_back();
    b.add_row(b.stack(deep), LabelSetId{}, std::span(&value, 1));
  }
  auto made = b.finish();
  REQUIRE(made);
  check_identity({*made});
}

TEST_CASE("store: loaded snapshots share one dictionary of just what they use") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  const SnapshotId a = add(*store, test::small("a", {{"main;x;y", 1, 1}, {"main;z", 1, 1}}));
  add(*store, test::small("b", {{"other;things", 1, 1}}));
  const SnapshotId c = add(*store, test::small("c", {{"main;z", 1, 2}, {"late", 1, 3}}));
  const std::vector<Snapshot> loaded = load(*store, {c, a});
  CHECK(loaded[0].dictionary == loaded[1].dictionary);
  const Dictionary& d = *loaded[0].dictionary;
  CHECK(d.stacks.size() == 1 + 3);
  CHECK(d.frames.size() == 5);
  CHECK(d.functions.size() == 1 + 5);
  CHECK(d.strings.size() == 1 + 5 + 1);  // "", names, "a.cc"
  CHECK(loaded[0].facts.source.name == "c");
  CHECK(loaded[1].facts.source.name == "a");
}

TEST_CASE("store: equal stacks of two snapshots have one id") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  add(*store, test::small("a", {{"main;x", 1, 1}, {"main;y", 1, 1}}));
  add(*store, test::small("b", {{"q", 1, 1}, {"main;y", 1, 1}}), "another series");
  std::string count;
  Store::SqlSink sink;
  sink.on_row = [&](auto row) { count = *row[0].text; };
  REQUIRE(store->sql("SELECT count(*) FROM stack", sink));
  CHECK(count == "3");
}

TEST_CASE("store: a snapshot that is not there cannot be loaded") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  const SnapshotId id{4};
  const auto loaded = store->load(std::span(&id, 1));
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == ErrorCode::usage);
  CHECK(loaded.error().message == "snapshot @4 is not in the store");
}
