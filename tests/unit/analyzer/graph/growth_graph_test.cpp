#include "analyzer/graph/growth_graph.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <map>

#include "unit/analyzer/graph/fake_report.hpp"

using namespace snapdiff;
using graph::GraphOptions;
using graph::GrowthGraph;
using graph::Node;
using graph::Weight;
using test::FakeReport;

namespace {

const Node* node(const GrowthGraph& graph, std::string_view name) {
  for (const Node& n : graph.nodes) {
    if (n.name == name) return &n;
  }
  return nullptr;
}
const graph::Edge* edge(const GrowthGraph& graph, std::string_view from, std::string_view to) {
  for (const graph::Edge& e : graph.edges) {
    if (graph.nodes[e.from].name == from && graph.nodes[e.to].name == to) return &e;
  }
  return nullptr;
}
GrowthGraph build(FakeReport& report, const GraphOptions& options = {}) {
  auto graph = graph::build_growth_graph(report.get(), options);
  REQUIRE(graph.has_value());
  return *graph;
}
bool adds_up(const GrowthGraph& graph) {
  return graph.drawn_flat.grew + graph.hidden_flat.grew == graph.total.grew &&
         graph.drawn_flat.shrank + graph.hidden_flat.shrank == graph.total.shrank;
}

}  // namespace

TEST_CASE("growth graph: weights are added once per stack, flat at the leaf") {
  FakeReport report;
  report.row("main;a;x@x.cc:7", 100, 400, 1, 4).row("main;b;x@x.cc:7", 50, 250, 1, 3).row("main;b", 80, 20, 2, 1);
  const GrowthGraph graph = build(report);

  // by hand: x +300 +200, b +200 -60, main +500 -60
  CHECK(graph.total == Weight{500, -60});
  REQUIRE(node(graph, "x") != nullptr);
  CHECK(node(graph, "x")->cumulative == Weight{500, 0});
  CHECK(node(graph, "x")->flat == Weight{500, 0});
  CHECK(node(graph, "x")->site == "x.cc:7");
  CHECK(node(graph, "x")->flat_objects == 5);
  CHECK(node(graph, "x")->object_bytes == 100);
  CHECK(node(graph, "b")->cumulative == Weight{200, -60});
  CHECK(node(graph, "b")->flat == Weight{0, -60});
  CHECK(node(graph, "b")->value == Change{130, 270});
  CHECK(node(graph, "b")->flat_value == Change{80, 20});
  CHECK(node(graph, "a")->cumulative == Weight{300, 0});
  CHECK(edge(graph, "b", "x")->weight == Weight{200, 0});
  CHECK(edge(graph, "a", "x")->weight == Weight{300, 0});
  CHECK(graph.nodes[0].name == "all growth");
  CHECK(graph.nodes[0].cumulative == Weight{500, -60});
  CHECK(graph.drawn_flat == graph.total);
  CHECK(graph.hidden_flat == Weight{});
}

TEST_CASE("growth graph: a recursive function counts once per stack and is marked") {
  FakeReport report;
  report.row("main;other", 0, 10).row("main;rec;rec;rec;leaf", 0, 64);
  const GrowthGraph graph = build(report);
  REQUIRE(node(graph, "rec") != nullptr);
  CHECK(node(graph, "rec")->cumulative == Weight{64, 0});
  CHECK(node(graph, "rec")->recursive);
  CHECK(node(graph, "rec")->members.empty());
  CHECK_FALSE(node(graph, "leaf")->recursive);
}

TEST_CASE("growth graph: mutual recursion is one node, named by its heaviest member") {
  FakeReport report;
  report.row("main;even;odd;even;odd;leaf", 0, 64).row("main;odd", 0, 8).row("main;other", 0, 9);
  const GrowthGraph graph = build(report);
  REQUIRE(node(graph, "odd") != nullptr);
  CHECK(node(graph, "even") == nullptr);
  CHECK(node(graph, "odd")->cumulative == Weight{72, 0});
  CHECK(node(graph, "odd")->flat == Weight{8, 0});
  CHECK(node(graph, "odd")->members == std::vector<std::string>{"even", "odd"});
  CHECK(node(graph, "odd")->recursive);
  CHECK(edge(graph, "main", "odd")->weight == Weight{72, 0});
  CHECK(adds_up(graph));
}

TEST_CASE("growth graph: new, gone and the series of a node") {
  FakeReport report;
  report.row("main;fresh", 0, 10).row("main;left", 30, 0).row("main;kept", 5, 6).row("main;kept", 7, 0);
  report.series({0, 0, 10}).series({30, 30, 0}).series({5, 9, 6}).series({7, 1, 0});
  const GrowthGraph graph = build(report);
  CHECK(node(graph, "fresh")->added);
  CHECK_FALSE(node(graph, "fresh")->gone);
  CHECK(node(graph, "left")->gone);
  CHECK_FALSE(node(graph, "kept")->gone);
  CHECK(node(graph, "kept")->series == std::vector<std::int64_t>{12, 10, 6});
  CHECK(graph.nodes[0].series == std::vector<std::int64_t>{42, 40, 16});
}

TEST_CASE("growth graph: functions of one name in two files are two, of two builds one") {
  FakeReport report;
  report.row("main;init@/a/x.cc:1", 0, 10).row("main;init@/a/y.cc:1", 0, 20).row("main;init@/b/y.cc:1", 0, 30);
  report.row("main;+/usr/lib/libz.so:0x12a4", 0, 40).row("main;+/lib/libz.so:0x12a4", 0, 50);
  const GrowthGraph graph = build(report);
  std::map<std::string, std::int64_t> sites;
  for (const Node& n : graph.nodes) {
    if (n.name == "init") sites[n.site] = n.cumulative.grew;
  }
  CHECK(sites == std::map<std::string, std::int64_t>{{"x.cc:1", 10}, {"y.cc:1", 50}});
  REQUIRE(node(graph, "libz.so+0x12a4") != nullptr);
  CHECK(node(graph, "libz.so+0x12a4")->cumulative == Weight{90, 0});
}

TEST_CASE("growth graph: dominators are those of the growing stacks") {
  FakeReport report;
  report.row("main;a;join;leaf", 0, 100).row("main;b;join;leaf", 0, 50).row("main;b;other", 0, 70);
  report.row("bypass;leaf", 20, 0).row("bypass;gone", 20, 0);
  const GrowthGraph graph = build(report);
  const auto dominator = [&](std::string_view name) { return graph.nodes[node(graph, name)->dominator].name; };
  CHECK(dominator("join") == "main");
  // The stack through bypass shrank: all growth of leaf came through join.
  CHECK(dominator("leaf") == "join");
  CHECK(node(graph, "leaf")->through_dominator == 1.0);
  CHECK(dominator("gone") == "bypass");
  CHECK(graph.nodes[0].dominator == 0);
}

TEST_CASE("growth graph: the spine follows the heavier side, also a shrinking one, to where it allocates") {
  FakeReport report;
  report.row("main;serve;sessions", 0, 250).row("main;background", 4000, 0).row("main;background;log", 0, 195);
  const GrowthGraph graph = build(report);
  CHECK(node(graph, "main")->spine);
  CHECK(node(graph, "background")->spine);
  CHECK_FALSE(node(graph, "log")->spine);
  CHECK_FALSE(node(graph, "serve")->spine);
  CHECK(edge(graph, "main", "background")->spine);
  CHECK_FALSE(edge(graph, "main", "serve")->spine);
}

TEST_CASE("growth graph: unattributed growth is a node, filtered growth is left out") {
  FakeReport report;
  report.row("main", 0, 100).unattributed(10, 40).filtered(0, 1000);
  const GrowthGraph graph = build(report);
  REQUIRE(node(graph, "[unattributed]") != nullptr);
  CHECK(node(graph, "[unattributed]")->flat == Weight{30, 0});
  CHECK(graph.total == Weight{130, 0});
  CHECK(adds_up(graph));
}

TEST_CASE("growth graph: a stack with every frame hidden counts at the root") {
  FakeReport report;
  report.row("", 0, 5).row("main", 0, 7);
  const GrowthGraph graph = build(report);
  CHECK(graph.nodes[0].flat == Weight{5, 0});
  CHECK(graph.total == Weight{12, 0});
  CHECK(adds_up(graph));
}

TEST_CASE("growth graph: nothing changed, nothing drawn") {
  FakeReport report;
  report.row("main;a", 10, 10).row("main;b", 3, 3);
  const GrowthGraph graph = build(report);
  CHECK(graph.nodes.size() == 1);
  CHECK(graph.edges.empty());
  CHECK(graph.total == Weight{});
  CHECK(graph.nodes[0].value == Change{13, 13});
  FakeReport empty;
  CHECK(build(empty).nodes.size() == 1);
}

TEST_CASE("growth graph: the largest sums are exact") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  FakeReport report;
  report.row("main;up", 0, kMost).row("main;down", kMost, 0);
  const GrowthGraph graph = build(report);
  CHECK(node(graph, "main")->cumulative == Weight{kMost, -kMost});
  CHECK(node(graph, "main")->cumulative.importance() == 2 * static_cast<std::uint64_t>(kMost));
  CHECK(node(graph, "main")->cumulative.moved() == kMost);
  CHECK(adds_up(graph));
}

TEST_CASE("growth graph: refuses a diff by function, and rows that do not add up") {
  FakeReport by_function;
  by_function.row("main", 0, 1);
  by_function.get().options.by = GroupBy::function;
  const auto refused = graph::build_growth_graph(by_function.get(), {});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::usage);
  CHECK(refused.error().message == "growth graph of a diff by function: expected one by stack");

  FakeReport broken;
  broken.row("main", 0, 1);
  broken.get().total.current += 1;
  const auto internal = graph::build_growth_graph(broken.get(), {});
  REQUIRE_FALSE(internal.has_value());
  CHECK(internal.error().code == ErrorCode::internal);
}
