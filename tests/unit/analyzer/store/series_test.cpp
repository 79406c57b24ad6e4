#include <catch2/catch.hpp>

#include "analyzer/base/parallel.hpp"
#include "analyzer/store/store.hpp"
#include "support/same_content.hpp"
#include "unit/analyzer/store/made_series.hpp"
#include "unit/analyzer/store/small_snapshots.hpp"
#include "unit/analyzer/store/temporary_folder.hpp"

using namespace snapdiff;
using namespace snapdiff::store;
using snapdiff::test::small;

namespace {

struct Taken {
  std::optional<std::int64_t> time;
  std::optional<std::int64_t> sequence;
};

/// The series after these were imported in this order.
SeriesInfo series_of(const std::vector<Taken>& taken) {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  int number = 0;
  for (const Taken& one : taken) {
    Snapshot snapshot = small("f" + std::to_string(number++), {{"main", 1, 1}});
    snapshot.facts.taken_at_ns = one.time;
    snapshot.facts.sequence = one.sequence;
    REQUIRE(store->add(snapshot, "s"));
  }
  auto all = store->list();
  REQUIRE(all);
  REQUIRE(all->size() == 1);
  return all->front();
}

std::vector<std::int64_t> ids(const SeriesInfo& series) {
  std::vector<std::int64_t> all;
  for (const SnapshotInfo& snapshot : series.snapshots) all.push_back(static_cast<std::int64_t>(snapshot.id));
  return all;
}

}  // namespace

TEST_CASE("store: the same path with the same bytes adds nothing to its series") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  const Snapshot snapshot = small("a.heap", {{"main", 1, 1}});
  const auto first = store->add(snapshot, "s");
  REQUIRE(first);
  CHECK_FALSE(first->was_present);
  const auto again = store->add(snapshot, "s");
  REQUIRE(again);
  CHECK(again->was_present);
  CHECK(again->id == first->id);

  SECTION("but another series takes it") { CHECK_FALSE(store->add(snapshot, "t")->was_present); }
  SECTION("but another path with the same bytes is another snapshot of the same source") {
    Snapshot copy = snapshot;
    copy.facts.source.name = "b.heap";
    CHECK_FALSE(store->add(copy, "s")->was_present);
    std::string sources;
    Store::SqlSink sink;
    sink.on_row = [&](auto row) { sources = *row[0].text; };
    REQUIRE(store->sql("SELECT count(*) FROM source", sink));
    CHECK(sources == "1");
  }
  SECTION("but the same path with other bytes is another snapshot") {
    Snapshot changed = snapshot;
    changed.facts.source.sha256 = "other";
    CHECK_FALSE(store->add(changed, "s")->was_present);
  }
  SECTION("but the next snapshot in the same file is another one") {
    Snapshot next = snapshot;
    next.facts.position = 1;
    CHECK_FALSE(store->add(next, "s")->was_present);
    CHECK(store->add(next, "s")->was_present);
  }
}

TEST_CASE("store: a series is in the order of the times inside its files") {
  const SeriesInfo series = series_of({{30, 1}, {10, 2}, {20, 3}, {10, 4}});
  CHECK(series.order == Order::time);
  CHECK(ids(series) == std::vector<std::int64_t>{2, 4, 3, 1});
  CHECK(series.snapshots[2].series_position == 3);
}

TEST_CASE("store: a series without all times is in the order of its sequence numbers") {
  const SeriesInfo series = series_of({{30, 9}, {std::nullopt, 7}, {20, 8}});
  CHECK(series.order == Order::sequence);
  CHECK(ids(series) == std::vector<std::int64_t>{2, 3, 1});
}

TEST_CASE("store: a series with a sequence number twice, or without one, is in import order") {
  CHECK(series_of({{{}, 9}, {{}, 7}, {{}, 9}}).order == Order::import);
  const SeriesInfo series = series_of({{{}, 9}, {{}, {}}, {{}, 1}});
  CHECK(series.order == Order::import);
  CHECK(ids(series) == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("store: the series imported into last is listed last, with facts and totals") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  CHECK(store->list()->empty());
  REQUIRE(store->add(small("1", {{"main;a", 2, 20}, {"main;b", 3, 30}}), "old"));
  REQUIRE(store->add(small("2", {{"main", 1, 1}}), "new"));
  REQUIRE(store->add(small("3", {{"main", 1, 1}}), "old"));
  const auto all = store->list();
  REQUIRE(all);
  REQUIRE(all->size() == 2);
  CHECK((*all)[0].name == "new");
  CHECK((*all)[1].name == "old");
  const SnapshotInfo& first = (*all)[1].snapshots[0];
  CHECK(first.series == "old");
  CHECK(first.rows == 2);
  CHECK(first.facts.source.name == "1");
  REQUIRE(first.totals.size() == 2);
  CHECK(first.totals[0] == std::pair<SampleType, std::int64_t>({"inuse_objects", "count"}, 5));
  CHECK(first.totals[1] == std::pair<SampleType, std::int64_t>({"inuse_space", "bytes"}, 50));
}

TEST_CASE("store: what was compared last is remembered, also by the next process") {
  const test::TemporaryFolder folder;
  {
    auto store = Store::open(folder.file("s.db"), Access::create);
    REQUIRE(store);
    CHECK_FALSE(store->last_comparison()->has_value());
    REQUIRE(store->add(small("1", {{"main", 1, 1}}), "s"));
    REQUIRE(store->add(small("2", {{"main", 2, 1}}), "s"));
    REQUIRE(store->remember({{SnapshotId{2}, SnapshotId{1}}, "{\"by\":\"stack\"}"}));
    REQUIRE(store->remember({{SnapshotId{1}, SnapshotId{2}}, "{\"by\":\"file\"}"}));
  }
  auto store = Store::open(folder.file("s.db"), Access::write);
  REQUIRE(store);
  auto last = store->last_comparison();
  REQUIRE(last);
  REQUIRE(last->has_value());
  CHECK((*last)->snapshots == std::vector<SnapshotId>{SnapshotId{1}, SnapshotId{2}});
  CHECK((*last)->options_json == "{\"by\":\"file\"}");

  SECTION("until one of them is removed") {
    const SnapshotId second{2};
    REQUIRE(store->remove(std::span(&second, 1)));
    CHECK_FALSE(store->last_comparison()->has_value());
  }
}

TEST_CASE("store: original bytes are kept when given") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  std::string bytes(100'000, 'x');
  bytes[5] = '\0';
  const SnapshotId plain = store->add(small("1", {{"main", 1, 1}}), "s")->id;
  const SnapshotId kept = store->add(small("2", {{"main", 1, 1}}), "s", bytes)->id;
  CHECK_FALSE(store->source_bytes(plain)->has_value());
  CHECK(store->source_bytes(kept).value() == bytes);
  CHECK(store->source_bytes(SnapshotId{9}).error().code == ErrorCode::usage);
}

TEST_CASE("store: many snapshots at once are stored as one by one, those that are here are found") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  std::vector<Snapshot> made;
  for (std::uint32_t position = 1; position <= 4; ++position) {
    made.push_back(small("app.log", {}));
    made.back().facts.position = position;
    made.back().facts.counters = {{"rss", 100 * position, "bytes", false, 0}};
  }
  made.push_back(small("other.log", {{"main;a", 1, 10}}));
  made.push_back(made.front());  // twice in one go
  std::vector<const Snapshot*> all;
  for (const Snapshot& snapshot : made) all.push_back(&snapshot);
  REQUIRE(store->add(made[1], "s"));
  REQUIRE(store->add(made[0], "t"));

  const auto stored = store->add_all(all, "s");
  REQUIRE(stored);
  REQUIRE(stored->size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) CHECK((*stored)[i].was_present == (i == 1 || i == 5));
  CHECK((*stored)[5].id == (*stored)[0].id);
  std::vector<SnapshotId> order;
  for (std::size_t i = 0; i < 5; ++i) order.push_back((*stored)[i].id);
  const auto loaded = store->load(order);
  REQUIRE(loaded);
  for (std::size_t i = 0; i < 5; ++i) CHECK(test::difference((*loaded)[i], made[i]) == "");

  const auto again = store->add_all(all, "s");
  REQUIRE(again);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK((*again)[i].was_present);
    CHECK((*again)[i].id == (*stored)[i].id);
  }
  CHECK(store->check());
  CHECK(store->add_all({}, "s")->empty());
}

TEST_CASE("store: of many snapshots at once all are stored or none") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  const Snapshot good = small("a", {{"main", 1, 1}});
  // The model refuses such a total before the store does: made by hand.
  Snapshot bad = small("b", {{"main", 1, 1}, {"main;a", 1, 1}});
  for (std::int64_t& value : bad.samples.columns[1].value) value = INT64_MAX;
  const auto stored = store->add_all(std::vector<const Snapshot*>{&good, &bad}, "s");
  REQUIRE_FALSE(stored);
  CHECK(stored.error().code == ErrorCode::limit);
  CHECK(store->list()->empty());
  CHECK(store->check());
}

TEST_CASE("store: snapshots of several keys are read at once as one by one") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  test::MadeSeries::Shape shape;
  shape.stacks = kParallelStacks;
  shape.min_depth = 3;
  shape.max_depth = 7;
  test::MadeSeries made(shape);
  std::vector<SnapshotId> chosen;
  for (int i = 0; i < 18; ++i, made.step()) {  // a key every 16
    const auto added = store->add(made.snapshot(), "s");
    REQUIRE(added);
    chosen.push_back(added->id);
  }
  const auto all = store->load(chosen);
  REQUIRE(all);
  for (const std::size_t i : {0U, 15U, 16U, 17U}) {
    const auto one = store->load(std::span(chosen).subspan(i, 1));
    REQUIRE(one);
    CHECK(test::difference((*all)[i], one->front()) == "");
  }
  chosen.push_back(SnapshotId{999});
  const auto unknown = store->load(chosen);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::usage);
}
