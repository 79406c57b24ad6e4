#include <catch2/catch.hpp>

#include <array>

#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

SnapshotRef with_columns(std::vector<std::string> columns, std::string default_metric = {}, std::string name = "x") {
  TextOptions options;
  options.columns = std::move(columns);
  options.facts.default_metric = std::move(default_metric);
  SnapshotRef r = heap("a 1", options);
  r.ref = std::move(name);
  return r;
}

Result<std::string> choose(const SnapshotRef& a, const SnapshotRef& b, const std::string& wanted = {}) {
  const std::array<SnapshotRef, 2> both = {a, b};
  return diff::choose_metric(both, wanted);
}

}  // namespace

TEST_CASE("metric: in-use bytes first, then the file's default, then the only one in bytes") {
  const SnapshotRef go = with_columns({"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"}, "alloc_space");
  CHECK(*choose(go, go) == "inuse_space");
  const SnapshotRef allocs = with_columns({"alloc_objects", "alloc_space", "other_space"}, "other_space");
  CHECK(*choose(allocs, allocs) == "other_space");
  const SnapshotRef one = with_columns({"alloc_objects", "alloc_space"});
  CHECK(*choose(one, one) == "alloc_space");
}

TEST_CASE("metric: two in bytes and no default is a question for the user") {
  const SnapshotRef two = with_columns({"a_space", "b_space"}, "", "two.pb");
  const Result<std::string> r = choose(two, two);
  REQUIRE_FALSE(r);
  CHECK(r.error().code == ErrorCode::incompatible);
  CHECK(r.error().message ==
        "no default metric: two.pb has a_space, b_space; two.pb has a_space, b_space, expected a choice by --metric");
}

TEST_CASE("metric: a CPU profile has none, even with a default") {
  const SnapshotRef cpu = with_columns({"samples_count", "cpu"}, "cpu", "cpu.pb");
  const std::array<SnapshotRef, 1> one = {cpu};
  const Result<std::string> r = diff::choose_metric(one, {});
  REQUIRE_FALSE(r);
  CHECK(r.error().message == "this is a CPU profile: cpu.pb has samples_count, cpu, expected a choice by --metric");
  CHECK(*diff::choose_metric(one, "cpu") == "cpu");
}

TEST_CASE("metric: counts of memory stand where there are no bytes") {
  const SnapshotRef live = with_columns({"live"});
  CHECK(*choose(live, live) == "live");
  const SnapshotRef allocs = with_columns({"alloc_objects"});
  CHECK(*choose(allocs, allocs) == "alloc_objects");
  const SnapshotRef both = with_columns({"alloc_objects", "inuse_objects"});
  CHECK(*choose(both, both) == "inuse_objects");
}

TEST_CASE("metric: synonyms and letter case") {
  const SnapshotRef go = with_columns({"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"});
  CHECK(*choose(go, go, "space") == "inuse_space");
  CHECK(*choose(go, go, "objects") == "inuse_objects");
  CHECK(*choose(go, go, "INUSE_SPACE") == "inuse_space");
  CHECK(*choose(go, go, "allocations") == "alloc_objects");
  const SnapshotRef own = with_columns({"space", "inuse_space"});
  CHECK(*choose(own, own, "space") == "space");
}

TEST_CASE("metric: unknown is a usage error that lists what there is") {
  const SnapshotRef go = with_columns({"inuse_objects", "inuse_space"});
  const Result<std::string> r = choose(go, go, "rss");
  REQUIRE_FALSE(r);
  CHECK(r.error().code == ErrorCode::usage);
  CHECK(r.error().message == "unknown metric: 'rss', expected one of inuse_objects, inuse_space");
}

TEST_CASE("metric: absent on one side is incompatible, with both lists") {
  const SnapshotRef a = with_columns({"inuse_space"}, "", "a.heap");
  const SnapshotRef b = with_columns({"alloc_space", "alloc_objects"}, "", "b.heap");
  const Result<std::string> none = choose(a, b);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::incompatible);
  CHECK(
      none.error().message ==
      "no common metric: a.heap has inuse_space; b.heap has alloc_space, alloc_objects, expected one that is in each");
  const Result<std::string> wanted = choose(a, b, "alloc_space");
  REQUIRE_FALSE(wanted);
  CHECK(wanted.error().code == ErrorCode::incompatible);
  CHECK(wanted.error().message.find("a.heap has inuse_space; b.heap has alloc_space") != std::string::npos);
}

TEST_CASE("metric: a snapshot without values tells what was lost") {
  auto empty = std::make_shared<Snapshot>();
  empty->facts.notes.add(Severity::info, "read twice");
  empty->facts.notes.add(Severity::data_loss, "line dropped: not JSON");
  const Result<std::string> none = choose({empty, "a.jsonl", {}}, with_columns({"inuse_space"}, "", "b.heap"));
  REQUIRE_FALSE(none);
  CHECK(none.error().message.find("a.jsonl has none (line dropped: not JSON); b.heap has inuse_space,") !=
        std::string::npos);
}

TEST_CASE("metric: the counts beside a metric") {
  const auto beside = [](std::vector<std::string> columns, std::string metric) {
    DiffOptions options;
    options.metric = std::move(metric);
    const SnapshotRef r = with_columns(std::move(columns));
    return must_diff(r, r, options).objects_metric;
  };
  CHECK(beside({"inuse_space", "inuse_objects"}, "inuse_space") == "inuse_objects");
  CHECK(beside({"alloc_space", "inuse_objects"}, "alloc_space").empty());
  CHECK(beside({"tlab_size", "tlab_objects"}, "tlab_size") == "tlab_objects");
  CHECK(beside({"x_bytes", "x_count"}, "x_bytes") == "x_count");
  CHECK(beside({"inuse_space", "inuse_objects"}, "inuse_objects").empty());
}

TEST_CASE("metric: one name in two units is incompatible") {
  SnapshotRef a = with_columns({"odd"});
  Snapshot other = *a.snapshot;
  other.samples.columns[0].type.unit = "count";
  SnapshotRef b;
  b.snapshot = std::make_shared<Snapshot>(other);
  DiffOptions options;
  options.metric = "odd";
  const Result<GrowthReport> r = diff::diff(a, b, options);
  REQUIRE_FALSE(r);
  CHECK(r.error().code == ErrorCode::incompatible);
}
