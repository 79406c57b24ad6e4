#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "analyzer/objects/path_shapes.hpp"
#include "analyzer/objects/retained_objects.hpp"
#include "graphs.hpp"
#include "support/rounds.hpp"

using namespace snapdiff;
using objects_test::GraphMaker;

namespace {

std::string text_of(const std::vector<PathStep>& path) {
  std::string text;
  for (const PathStep& step : path) text += "." + step.label + ":" + step.type;
  return text;
}

/// global.registry -> Map.table -> table[i] -> Session (10 bytes).data -> text (100 bytes); and a cache that
/// does not grow; nodes may be listed the other way round.
SnapshotRef service(std::uint32_t sessions, bool reversed = false) {
  GraphMaker maker;
  const auto global = maker.node("global", 1, 0, 1);
  const auto cache = maker.node("Cache", 50, 0, 2);
  const auto registry = maker.node("Map", 20, 0, 3);
  const auto table = maker.node("table", 30, 0, 4);
  maker.root(global, "user root");
  maker.edge(global, cache, "cache");
  maker.edge(global, registry, "registry");
  maker.edge(registry, table, "table");
  for (std::uint32_t i = 0; i < sessions; ++i) {
    const std::uint32_t number = reversed ? sessions - i : i;
    const auto session = maker.node("Session", 10, 0, 100 + std::uint64_t{number});
    maker.element(table, session, number);
    maker.edge(session, maker.node("text", 100), "data");
  }
  return maker.finish("service");
}

PathReport report_of(const std::vector<SnapshotRef>& snapshots, const objects::PathOptions& options) {
  auto report = objects::paths(snapshots, options);
  REQUIRE(report);
  return *std::move(report);
}

}  // namespace

TEST_CASE("paths: objects of one type on one path are one row") {
  const PathReport report = report_of({service(3)}, {"Session"});
  REQUIRE(report.rows.size() == 1);
  CHECK(text_of(report.rows[0].path) == ".user root:global.registry:Map.table:table.[x]:Session");
  CHECK(report.rows[0].at == std::vector<ObjectSum>{{3, 30}});
  CHECK(report.rows[0].growing == -1);
  CHECK(report.rows[0].example == 100U);
  CHECK(report.growing.empty());
  CHECK(report.total == report.rows[0].at);
}

TEST_CASE("paths: the holder that gains with every snapshot is named, with its share") {
  const PathReport report = report_of({service(3), service(5, true), service(9)}, {"Session|Cache"});
  REQUIRE(report.growing.size() == 1);
  const GrowingPlace& place = report.growing[0];
  CHECK(text_of(place.path) == ".user root:global.registry:Map.table:table");
  REQUIRE(place.held.size() == 1);
  CHECK(place.held[0].step == PathStep{"[x]", "Session"});
  CHECK(place.held[0].at == std::vector<ObjectSum>{{3, 30}, {5, 50}, {9, 90}});
  // The table, 9 sessions and their texts hang on it alone.
  CHECK(place.share_bytes == 30 + 9 * 110);
  CHECK(place.exclusive_bytes == place.share_bytes);
  CHECK(place.exclusive_objects == 19);
  CHECK(report.hanging == ObjectSum{19, 1020});
  REQUIRE(report.rows.size() == 2);
  CHECK(report.rows[0].growing == 0);
  CHECK(report.rows[1].path.back().type == "Cache");
  CHECK(report.rows[1].growing == -1);
}

TEST_CASE("paths: a place that missed one step by less than the loops is not growing") {
  CHECK(report_of({service(1), service(8), service(15)}, {"", 7}).growing.size() == 1);
  CHECK(report_of({service(1), service(8), service(14)}, {"", 7}).growing.empty());
  CHECK(report_of({service(3), service(3), service(9)}, {"", 1}).growing.empty());
}

TEST_CASE("paths: a linked list is one step") {
  GraphMaker maker;
  const auto list = maker.node("List");
  maker.root(list);
  std::uint32_t last = list;
  for (int i = 0; i < 1000; ++i) {
    const auto node = maker.node("Node", 2);
    maker.edge(last, node, i == 0 ? "head" : "next");
    last = node;
  }
  const PathReport report = report_of({maker.finish()}, {"Node"});
  REQUIRE(report.rows.size() == 2);
  CHECK(text_of(report.rows[0].path) == ".root:List.head:Node.next:Node");
  CHECK(report.rows[0].at == std::vector<ObjectSum>{{999, 1998}});
}

TEST_CASE("paths: what several growing places reach is divided, exactly") {
  // Two tables that both hold all sessions: neither retains one, each has half of the share.
  const auto two_tables = [](std::uint32_t sessions) {
    GraphMaker maker;
    const auto root = maker.node("global", 0);
    const auto a = maker.node("A", 0);
    const auto b = maker.node("B", 0);
    maker.root(root);
    maker.edge(root, a, "a");
    maker.edge(root, b, "b");
    for (std::uint32_t i = 0; i < sessions; ++i) {
      const auto both = maker.node("Shared", 5);
      maker.element(a, both, i);
      maker.element(b, both, i);
      maker.element(a, maker.node("OnlyA", 2), i);
      maker.element(b, maker.node("OnlyB", 1), i);
    }
    return maker.finish();
  };
  const PathReport report = report_of({two_tables(1), two_tables(3)}, {""});
  REQUIRE(report.growing.size() == 2);
  CHECK(report.growing[0].path.back().type == "A");
  // 3 shared of 5: 3 to the first, 2 to the other, each.
  CHECK(*report.growing[0].share_bytes + *report.growing[1].share_bytes == report.hanging.bytes);
  CHECK(report.hanging == ObjectSum{11, 24});
  CHECK(report.growing[0].exclusive_bytes == 6);
  CHECK(report.growing[1].exclusive_bytes == 3);
  CHECK(report.growing[0].share_objects == Approx(1 + 3 + 1.5));
}

TEST_CASE("paths: numbers in labels tell no paths apart") {
  GraphMaker maker;
  const auto table = maker.node("table");
  maker.root(table, "2");
  for (int i = 0; i < 3; ++i) {
    maker.edge(table, maker.node("Session"), std::to_string(1000 + i));
    maker.edge(table, maker.node("Entry"), "value (Entry @" + std::to_string(100 + i) + ") of a pair @7");
  }
  const PathReport report = report_of({maker.finish()}, {"Session|Entry"});
  REQUIRE(report.rows.size() == 2);
  std::vector<std::string> texts{text_of(report.rows[0].path), text_of(report.rows[1].path)};
  std::sort(texts.begin(), texts.end());
  CHECK(texts == std::vector<std::string>{".:table.[x]:Session", ".:table.value (Entry @x) of a pair @x:Entry"});
}

TEST_CASE("paths: roots that become more stand for themselves") {
  const auto handles = [](int count) {
    GraphMaker maker;
    for (int i = 0; i < count; ++i) maker.root(maker.node("Handle", 4), "JNI global");
    return maker.finish();
  };
  const PathReport report = report_of({handles(2), handles(4)}, {"Handle"});
  REQUIRE(report.growing.size() == 1);
  CHECK(text_of(report.growing[0].path) == ".JNI global:Handle");
  CHECK(report.growing[0].share_bytes == 16);
  CHECK(report.rows[0].growing == 0);
}

TEST_CASE("paths: objects without a path are counted, weak references are none") {
  GraphMaker maker;
  const auto root = maker.node("root");
  const auto cached = maker.node("Session", 10);
  maker.root(root);
  maker.weak(root, cached, "cache");
  const PathReport report = report_of({maker.finish()}, {"Session"});
  CHECK(report.rows.empty());
  CHECK(report.unreachable == ObjectSum{1, 10});
}

TEST_CASE("paths: every path is a real one and the shortest, on random graphs") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    GraphMaker maker;
    const auto nodes = static_cast<std::uint32_t>(2 + random() % 60);
    for (std::uint32_t n = 0; n < nodes; ++n) maker.node("T" + std::to_string(n));
    maker.root(0);
    for (std::uint32_t e = 0; e < nodes * 2; ++e)
      maker.edge(static_cast<std::uint32_t>(random() % nodes), static_cast<std::uint32_t>(random() % nodes),
                 "f" + std::to_string(random() % 3));
    const SnapshotRef ref = maker.finish();
    const ObjectGraph& graph = *ref.snapshot->graph;
    std::vector<std::size_t> distance(nodes, 0);
    distance[0] = 1;
    for (std::uint32_t pass = 0; pass < nodes; ++pass) {
      for (std::uint32_t n = 0; n < nodes; ++n) {
        for (const std::uint32_t to : graph.held(n)) {
          if (distance[n] != 0 && (distance[to] == 0 || distance[to] > distance[n] + 1)) distance[to] = distance[n] + 1;
        }
      }
    }
    const PathReport report = report_of({ref}, {""});
    std::size_t reached = 0;
    for (const std::size_t d : distance) reached += d != 0 ? 1 : 0;
    REQUIRE(report.rows.size() == reached);  // every node is a type of its own
    for (const PathRow& row : report.rows) {
      const auto node_of = [](const PathStep& step) {
        return static_cast<std::uint32_t>(std::stoul(step.type.substr(1)));
      };
      REQUIRE(row.path.size() + row.left_out == distance[node_of(row.path.back())]);
      if (row.left_out != 0) continue;
      for (std::size_t i = 1; i < row.path.size(); ++i) {
        const std::uint32_t from = node_of(row.path[i - 1]);
        bool held = false;
        for (std::uint64_t e = graph.edge_begin[from]; e < graph.edge_begin[from + 1]; ++e) {
          held = held || (graph.to[e] == node_of(row.path[i]) &&
                          ref.snapshot->dictionary->strings[StringId{graph.label[e]}] == row.path[i].label);
        }
        REQUIRE(held);
      }
    }
  }
}

TEST_CASE("paths: who holds a shared object does not depend on the order of objects") {
  const auto shuffled = [](unsigned seed) {
    std::mt19937 random(seed);
    GraphMaker maker;
    const auto root = maker.node("root");
    maker.root(root);
    std::vector<int> order(20);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::uint32_t> holders;
    for (const int i : order) {
      holders.push_back(maker.node("Holder" + std::to_string(i)));
      maker.edge(root, holders.back(), "h" + std::to_string(i));
    }
    const auto shared = maker.node("Shared");
    for (const std::uint32_t holder : holders) maker.edge(holder, shared, "s");
    return maker.finish();
  };
  const PathReport report = report_of({shuffled(1), shuffled(2), shuffled(3)}, {"Shared"});
  REQUIRE(report.rows.size() == 1);
  CHECK(report.rows[0].at == std::vector<ObjectSum>{{1, 1}, {1, 1}, {1, 1}});
}

TEST_CASE("paths: long paths keep their ends, and five million steps are walked without recursion") {
  constexpr auto kNodes = test::rounds<std::uint32_t>(5'000'000, 1'000'000);
  auto graph = std::make_shared<ObjectGraph>();
  objects_test::Edges edges;
  for (std::uint32_t n = 0; n + 1 < kNodes; ++n) edges.emplace_back(n, n + 1);
  *graph = objects_test::plain_graph(kNodes, edges, {0});
  edges = {};
  // Two types in turn, so that no step is like the one before it.
  SnapshotBuilder builder;
  graph->types.name = {builder.string("A"), builder.string("B")};
  graph->types.kind.assign(2, StringId{});
  for (std::uint32_t n = 0; n < kNodes; ++n) graph->type[n] = n % 2;
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->dictionary = std::make_shared<Dictionary>(builder.dictionary());
  snapshot->graph = graph;
  const PathReport report = report_of({{snapshot, "chain", ""}}, {"A"});
  CHECK(report.rows.size() == 10'000);
  CHECK(report.more_rows == kNodes / 2 - 10'000);
  CHECK(report.rows[0].path.size() == 32);
  CHECK(report.total[0].objects == kNodes / 2);
}

TEST_CASE("paths: a pattern that is none is told") {
  const auto report = objects::paths({service(1)}, {"("});
  REQUIRE_FALSE(report);
  CHECK(report.error().code == ErrorCode::usage);
  CHECK_THAT(report.error().message, Catch::Contains("expected RE2 syntax"));
}
