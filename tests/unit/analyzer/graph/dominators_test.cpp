#include "analyzer/graph/dominators.hpp"

// BGL's compressed_sparse_row_graph has no degree(v, g), which its dominator code asks for; an
// adjacency_list has one and is small enough here.
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <catch2/catch.hpp>
#include <random>

using snapdiff::graph::immediate_dominators;
using snapdiff::graph::kUnreachable;
using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

namespace {

/// Boost expects every node to be reachable: it is given the reachable part, numbered anew.
std::vector<std::uint32_t> by_boost(std::uint32_t nodes, const Edges& edges) {
  std::vector<std::uint32_t> number(nodes, kUnreachable);
  std::vector<std::uint32_t> node{0};
  number[0] = 0;
  for (std::size_t i = 0; i < node.size(); ++i) {
    for (const auto& [from, to] : edges) {
      if (from != node[i] || number[to] != kUnreachable) continue;
      number[to] = static_cast<std::uint32_t>(node.size());
      node.push_back(to);
    }
  }
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
  Graph graph(node.size());
  for (const auto& [from, to] : edges) {
    if (number[from] != kUnreachable) boost::add_edge(number[from], number[to], graph);
  }
  std::vector<Graph::vertex_descriptor> parent(node.size(), Graph::null_vertex());
  boost::lengauer_tarjan_dominator_tree(
      graph, boost::vertex(0, graph),
      boost::make_iterator_property_map(parent.begin(), boost::get(boost::vertex_index, graph)));
  std::vector<std::uint32_t> out(nodes, kUnreachable);
  for (std::size_t n = 1; n < node.size(); ++n) out[node[n]] = node[parent[n]];
  out[0] = 0;
  return out;
}

}  // namespace

TEST_CASE("dominators: the frame after a diamond is dominated by its top") {
  const Edges edges{{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 5}};
  CHECK(immediate_dominators(6, edges) == std::vector<std::uint32_t>{0, 0, 1, 1, 1, 4});
}

TEST_CASE("dominators: nodes without a path from the root have none") {
  const Edges edges{{0, 1}, {2, 1}, {2, 3}};
  CHECK(immediate_dominators(4, edges) == std::vector<std::uint32_t>{0, 0, kUnreachable, kUnreachable});
  CHECK(immediate_dominators(1, Edges{}) == std::vector<std::uint32_t>{0});
}

TEST_CASE("dominators: same as Boost on random graphs") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const auto nodes = static_cast<std::uint32_t>(1 + random() % 24);
    const std::uint32_t count = static_cast<std::uint32_t>(random() % (3 * nodes + 1));
    Edges edges;
    for (std::uint32_t e = 0; e < count; ++e) edges.emplace_back(random() % nodes, random() % nodes);
    CAPTURE(round, nodes);
    REQUIRE(immediate_dominators(nodes, edges) == by_boost(nodes, edges));
  }
}

TEST_CASE("dominators: a chain of a million frames that loops back does not use up the stack") {
  constexpr std::uint32_t kNodes = 1'000'000;
  Edges edges;
  for (std::uint32_t n = 0; n + 1 < kNodes; ++n) edges.emplace_back(n, n + 1);
  edges.emplace_back(kNodes - 1, 1);
  const auto idom = immediate_dominators(kNodes, edges);
  bool chain = true;
  for (std::uint32_t n = 1; n < kNodes; ++n) chain = chain && idom[n] == n - 1;
  CHECK(chain);
}
