#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "analyzer/graph/growth_graph.hpp"
#include "unit/analyzer/graph/fake_report.hpp"

using namespace snapdiff;
using graph::GraphOptions;
using graph::GrowthGraph;
using graph::Weight;
using test::FakeReport;

namespace {

GrowthGraph build_graph(FakeReport& report, const GraphOptions& options = {}) {
  auto graph = graph::build_growth_graph(report.get(), options);
  REQUIRE(graph.has_value());
  return *graph;
}
/// "f7"; not by "f" + ..., of which gcc 12 warns for no reason.
std::string numbered(std::string_view prefix, std::uint64_t number) {
  return std::string(prefix).append(std::to_string(number));
}
std::set<std::string> names(const GrowthGraph& graph) {
  std::set<std::string> out;
  for (const graph::Node& node : graph.nodes) out.insert(node.name);
  return out;
}
/// Everything drawn, as text.
std::string text(const GrowthGraph& graph) {
  std::string out;
  for (const graph::Node& n : graph.nodes)
    out += n.full_name + n.site + " " + std::to_string(n.cumulative.grew) + " " + std::to_string(n.cumulative.shrank) +
           " " + std::to_string(n.flat.net()) + " " + std::to_string(n.dominator) + (n.spine ? " spine" : "") + "\n";
  for (const graph::Edge& e : graph.edges) {
    out += std::to_string(e.from) + ">" + std::to_string(e.to) + " " + std::to_string(e.weight.net()) +
           (e.residual ? " residual" : "") + (e.spine ? " spine" : "");
    for (const std::string& name : e.hidden_frames) out += " " + name;
    out += "\n";
  }
  return out + std::to_string(graph.hidden_nodes) + " " + std::to_string(graph.hidden_flat.net());
}

}  // namespace

TEST_CASE("trim: a subtree that grew as much as it shrank stays, though its net is 0") {
  FakeReport report;
  report.row("main;cache;put", 0, 400).row("main;cache;drop", 400, 0).row("main;small", 0, 20).row("main;tiny", 0, 1);
  const GrowthGraph graph = build_graph(report, {40, 0.005, 0.001});
  CHECK(names(graph).count("cache") == 1);
  CHECK(names(graph).count("put") == 1);
  CHECK(names(graph).count("drop") == 1);
  CHECK(names(graph).count("small") == 1);  // 20 of 821 is 2.4 %
  CHECK(names(graph).count("tiny") == 0);
  CHECK(graph.hidden_nodes == 1);
  CHECK(graph.hidden_flat == Weight{1, 0});
  CHECK(graph.drawn_flat == Weight{420, -400});
}

TEST_CASE("trim: with few nodes, forks and allocation sites go before frames that pass on") {
  FakeReport report;
  report.row("main;a1;a2;fork;b1;b2;left", 0, 600).row("main;a1;a2;fork;c1;c2;right", 0, 400);
  const GrowthGraph graph = build_graph(report, {3, 0.005, 0.001});
  CHECK(names(graph) == std::set<std::string>{"all growth", "fork", "left", "right"});
  CHECK(graph.hidden_flat == Weight{});
}

TEST_CASE("trim: a culprit's path stays however small it is") {
  FakeReport report;
  report.row("main;big", 0, 100000).row("main;way;culprit", 0, 1).culprit("main;way;culprit", 1, 0.00001, {1});
  const GrowthGraph graph = build_graph(report);
  CHECK(names(graph).count("culprit") == 1);
  const auto it =
      std::find_if(graph.nodes.begin(), graph.nodes.end(), [](const auto& n) { return n.name == "culprit"; });
  CHECK(it->culprit == 0);
}

TEST_CASE("trim: a hidden frame leaves a residual edge that names it") {
  FakeReport report;
  report.row("main;hub;a", 0, 500).row("main;hub;b", 0, 400);
  for (int i = 0; i < 5; ++i) report.row("main;hub;thin" + std::to_string(i) + ";c", 0, 3);
  const GrowthGraph graph = build_graph(report, {40, 0.01, 0.001});
  // thin0..4 carry 3 of 915 each and go; c carries 15 and stays.
  const auto edge = std::find_if(graph.edges.begin(), graph.edges.end(),
                                 [&](const graph::Edge& e) { return graph.nodes[e.to].name == "c"; });
  REQUIRE(edge != graph.edges.end());
  CHECK(edge->residual);
  CHECK(graph.nodes[edge->from].name == "hub");
  CHECK(edge->weight == Weight{15, 0});
  CHECK(edge->hidden_count == 1);
  CHECK(edge->hidden_varies);
  REQUIRE(edge->hidden_frames.size() == 1);
  CHECK(edge->hidden_frames[0].substr(0, 4) == "thin");
}

TEST_CASE("trim: a long run of frames that only pass on is folded, its ends and culprits stay") {
  FakeReport report;
  std::string stack = "start;run";
  for (int i = 0; i < 56; ++i) stack += numbered(";f", static_cast<std::uint64_t>(i));
  report.row(stack + ";leaf", 0, 1000).row("start;run;side", 0, 300);
  report.culprit(stack.substr(0, stack.find(";f20;") + 4), 1000, 0.77, {0});
  const GrowthGraph graph = build_graph(report);
  // start is start-up code before the fork; f0 begins the run, f20 is a culprit, f55 is next to the leaf.
  CHECK(names(graph) ==
        std::set<std::string>{"all growth", "run", "side", "f0", "f19", "f20", "f21", "f54", "f55", "leaf"});
  const auto hidden = std::find_if(graph.edges.begin(), graph.edges.end(),
                                   [&](const graph::Edge& e) { return graph.nodes[e.from].name == "f0"; });
  REQUIRE(hidden != graph.edges.end());
  CHECK(hidden->residual);
  CHECK(hidden->hidden_count == 18);
  CHECK(hidden->hidden_frames.size() == 8);
  CHECK(hidden->hidden_frames.front() == "f1");
  CHECK_FALSE(hidden->hidden_varies);
  CHECK(graph.hidden_flat == Weight{});
  CHECK(graph.hidden_nodes == 59 + 1 - 9);
}

TEST_CASE("trim: at most max_nodes beside the root, and what is hidden is accounted for") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    FakeReport report;
    const int rows = 1 + static_cast<int>(random() % 60);
    for (int r = 0; r < rows; ++r) {
      std::string stack = numbered("m", random() % 3);
      const int depth = static_cast<int>(random() % 12);
      for (int d = 0; d < depth; ++d) stack += numbered(";f", random() % 20);
      report.row(stack, static_cast<std::int64_t>(random() % 1000), static_cast<std::int64_t>(random() % 1000));
    }
    const std::size_t max_nodes = random() % 15;
    const GrowthGraph graph = build_graph(report, {max_nodes, 0.005, 0.001});
    CAPTURE(round, max_nodes);
    REQUIRE(graph.nodes.size() <= max_nodes + 1);
    REQUIRE(graph.drawn_flat.grew + graph.hidden_flat.grew == report.get().grew);
    REQUIRE(graph.drawn_flat.shrank + graph.hidden_flat.shrank == report.get().shrank);
    // Soundness, against the stacks themselves: all growth of a node holds its dominator.
    for (const graph::Node& node : graph.nodes) REQUIRE(node.through_dominator == Approx(1.0));
    // Every drawn node hangs on something.
    std::set<std::uint32_t> targets;
    for (const graph::Edge& edge : graph.edges) targets.insert(edge.to);
    REQUIRE(targets.size() == graph.nodes.size() - 1);
  }
}

TEST_CASE("trim: the order of the rows makes no difference") {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    struct Line {
      std::string stack;
      std::int64_t a, b;
    };
    std::vector<Line> lines;
    for (int r = 0; r < 40; ++r) {
      std::string stack = "main@m.cc:1";
      const int depth = static_cast<int>(random() % 8);
      for (int d = 0; d < depth; ++d) stack += numbered(";g", random() % 12);
      lines.push_back(
          {stack, static_cast<std::int64_t>(random() % 4) * 100, static_cast<std::int64_t>(random() % 4) * 100});
    }
    const auto draw = [&] {
      FakeReport report;
      for (const Line& line : lines) report.row(line.stack, line.a, line.b);
      return text(build_graph(report, {9, 0.005, 0.001}));
    };
    const std::string first = draw();
    std::shuffle(lines.begin(), lines.end(), random);
    CAPTURE(round);
    REQUIRE(draw() == first);
  }
}

TEST_CASE("trim: each row knows the node it is drawn at") {
  FakeReport report;
  report.row("main;a;deep", 0, 100).row("main;b", 0, 50).row("main;a", 7, 7);
  const GrowthGraph graph = build_graph(report);
  REQUIRE(graph.row_node.size() == 3);
  CHECK(graph.nodes[graph.row_node[0]].name == "deep");
  CHECK(graph.nodes[graph.row_node[1]].name == "b");
  CHECK(graph.nodes[graph.row_node[2]].name == "a");
}
