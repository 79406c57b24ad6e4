#include <catch2/catch.hpp>

#include <limits>

#include "analyzer/trend/verdict.hpp"
#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

SnapshotRef with(std::vector<Counter> counters) {
  SnapshotBuilder builder;
  builder.facts().counters = std::move(counters);
  auto snapshot = std::make_shared<const Snapshot>(std::move(builder.finish()).value());
  return {snapshot, "x", ""};
}

const CounterRow& row_of(const CounterReport& report, std::string_view name) {
  for (const CounterRow& row : report.rows) {
    if (row.name == name) return row;
  }
  throw std::invalid_argument("no counter " + std::string(name));
}

CounterReport must_count(const std::vector<SnapshotRef>& snapshots) {
  Result<CounterReport> report = diff::diff_counters(snapshots);
  if (!report) throw std::invalid_argument(report.error().text());
  return std::move(report).value();
}

}  // namespace

TEST_CASE("counters: growth of a level is last minus first, by name and unit") {
  const CounterReport r = must_count({with({{"rss", 100, "bytes"}, {"live", 7, "count"}}), with({{"rss", 40, "bytes"}}),
                                      with({{"rss", 160, "bytes"}, {"live", 9, "count"}})});
  REQUIRE(r.rows.size() == 2);
  CHECK(r.rows[0].name == "rss");
  CHECK(r.rows[0].growth == 60);
  const CounterRow& live = row_of(r, "live");
  CHECK(live.growth == 2);
  CHECK_FALSE(live.values[1].has_value());
  CHECK((live.first == 0 && live.last == 2));
}

TEST_CASE("counters: one that counts up and runs backwards began anew") {
  std::vector<SnapshotRef> snapshots;
  for (const std::int64_t value : {10, 25, 3, 8, 1}) snapshots.push_back(with({{"created", value, "count", true}}));
  const CounterRow row = must_count(snapshots).rows.at(0);
  CHECK(row.growth == 15 + 3 + 5 + 1);
  CHECK(row.resets == 2);
}

TEST_CASE("counters: one that appears late is known from there on") {
  const CounterReport r = must_count({with({{"a", 1, "bytes"}}), with({{"a", 1, "bytes"}, {"b", 5, "bytes"}})});
  const CounterRow& b = row_of(r, "b");
  CHECK((b.first == 1 && b.last == 1));
  CHECK(b.growth == 0);
  CHECK(b.after() == 5);
}

TEST_CASE("counters: levels before what counts up, bytes first, then by growth") {
  const CounterReport r =
      must_count({with({{"up", 0, "count", true}, {"n", 0, "count"}, {"b", 0, "bytes"}, {"a", 0, "bytes"}}),
                  with({{"up", 99, "count", true}, {"n", 50, "count"}, {"b", -9, "bytes"}, {"a", 4, "bytes"}})});
  std::vector<std::string> names;
  for (const CounterRow& row : r.rows) names.push_back(row.name);
  CHECK(names == std::vector<std::string>{"b", "a", "n", "up"});
}

TEST_CASE("counters: growth beyond 64 bits is an error") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<SnapshotRef> snapshots{with({{"a", -2, "bytes"}}), with({{"a", kMost, "bytes"}})};
  const Result<CounterReport> r = diff::diff_counters(snapshots);
  REQUIRE_FALSE(r);
  CHECK(r.error().code == ErrorCode::limit);
}

TEST_CASE("counters: a level that climbs is judged, one that is counted up is not") {
  std::vector<SnapshotRef> snapshots;
  for (std::int64_t i = 0; i < 20; ++i)
    snapshots.push_back(with(
        {{"rss", 500'000'000 + i * 4'000'000, "bytes"}, {"created", i * 100, "count", true}, {"flat", 77, "count"}}));
  CounterReport r = must_count(snapshots);
  trend::judge_counters(r);
  CHECK(row_of(r, "rss").verdict.word == "GROWING");
  CHECK(row_of(r, "rss").verdict.slope == Approx(4'000'000));
  CHECK(row_of(r, "created").verdict.word.empty());
  CHECK(row_of(r, "flat").verdict.word == "FLAT");
}

TEST_CASE("counters: a long log is judged too, its slope is by snapshot") {
  std::vector<SnapshotRef> snapshots;
  for (std::int64_t i = 0; i < 5000; ++i) snapshots.push_back(with({{"rss", 1'000'000'000 + i * 1000, "bytes"}}));
  CounterReport r = must_count(snapshots);
  trend::judge_counters(r);
  CHECK(r.rows.at(0).verdict.slope == Approx(1000).epsilon(0.01));
}

TEST_CASE("counters: only snapshots without columns are about counters alone") {
  const std::vector<SnapshotRef> counted{with({{"a", 1, "bytes"}})};
  const std::vector<SnapshotRef> both{counted[0], heap("m 1 1\n")};
  const std::vector<SnapshotRef> empty{with({})};
  CHECK(diff::has_counters_only(counted));
  CHECK_FALSE(diff::has_counters_only(both));
  CHECK_FALSE(diff::has_counters_only(empty));
}

TEST_CASE("counters: of thousands that one snapshot each has, what many have stays") {
  std::vector<SnapshotRef> snapshots;
  for (int i = 0; i < 2200; ++i)
    snapshots.push_back(with({{"own" + std::to_string(i), 1, "count"}, {"rss", i, "bytes"}}));
  const CounterReport r = must_count(snapshots);
  CHECK(r.rows.size() * snapshots.size() <= (std::size_t{1} << 22) + 64 * 4400);
  CHECK(row_of(r, "rss").growth == 2199);
  REQUIRE(r.notes.all().size() == 1);
  CHECK(r.notes.all()[0].count == 2201 - r.rows.size());
}
