#include "analyzer/objects/root_set.hpp"

// As in the graph module's test: only an adjacency_list has what Boost's dominator code asks for.
#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <catch2/catch.hpp>
#include <random>

#include "graphs.hpp"
#include "support/rounds.hpp"

using namespace snapdiff;
using namespace snapdiff::objects;
using objects_test::Edges;
using objects_test::plain_graph;
using objects_test::reach;

namespace {

DominatorTree tree_of(const ObjectGraph& graph) {
  Result<DominatorTree> tree = dominator_tree(graph, find_roots(graph).nodes);
  REQUIRE(tree);
  return *std::move(tree);
}

struct Retained {
  std::int64_t objects = 0, bytes = 0;
  bool operator==(const Retained&) const = default;
};

/// Per node, 0 where no root reaches it.
std::vector<Retained> retained_of(const DominatorTree& tree, std::size_t nodes) {
  std::vector<Retained> out(nodes);
  for (std::size_t place = 0; place < tree.size(); ++place)
    out[tree.order[place]] = {tree.objects[place], tree.retained_bytes(place)};
  return out;
}

/// Delete a node, count what the roots do not reach any more.
Retained by_removal(const ObjectGraph& graph, const std::vector<std::uint32_t>& roots, std::uint32_t node) {
  const std::vector<bool> before = reach(graph, roots);
  const std::vector<bool> after = reach(graph, roots, node);
  Retained out;
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!before[n] || after[n]) continue;
    ++out.objects;
    out.bytes += graph.self_bytes[n];
  }
  return out;
}

/// Immediate dominators by Boost, which wants every node to be reachable and one root: the last one.
std::vector<std::uint32_t> by_boost(const ObjectGraph& graph, const std::vector<std::uint32_t>& roots) {
  const std::vector<bool> reached = reach(graph, roots);
  std::vector<std::uint32_t> number(graph.size(), kNoNode);
  std::vector<std::uint32_t> node;
  for (std::uint32_t n = 0; n < graph.size(); ++n) {
    if (!reached[n]) continue;
    number[n] = static_cast<std::uint32_t>(node.size() + 1);
    node.push_back(n);
  }
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
  Graph made(node.size() + 1);
  for (const std::uint32_t root : roots) boost::add_edge(0, number[root], made);
  for (const std::uint32_t n : node) {
    for (std::uint64_t e = graph.edge_begin[n]; e < graph.edge_begin[n + 1]; ++e) {
      if ((graph.label[e] & kEdgeIsWeak) == 0) boost::add_edge(number[n], number[graph.to[e]], made);
    }
  }
  std::vector<Graph::vertex_descriptor> parent(node.size() + 1, Graph::null_vertex());
  boost::lengauer_tarjan_dominator_tree(
      made, boost::vertex(0, made),
      boost::make_iterator_property_map(parent.begin(), boost::get(boost::vertex_index, made)));
  std::vector<std::uint32_t> out(graph.size(), kNoNode);
  for (std::size_t i = 0; i < node.size(); ++i) {
    if (parent[i + 1] != 0) out[node[i]] = node[parent[i + 1] - 1];
  }
  return out;
}

/// Some references weak, some nodes without holders, loops and repeats among them.
ObjectGraph random_graph(std::mt19937& random, std::uint32_t most_nodes, std::uint32_t most_edges_a_node) {
  const auto nodes = static_cast<std::uint32_t>(1 + random() % most_nodes);
  const auto count = static_cast<std::uint32_t>(random() % (most_edges_a_node * nodes + 1));
  Edges edges;
  for (std::uint32_t e = 0; e < count; ++e) edges.emplace_back(random() % nodes, random() % nodes);
  std::vector<std::uint32_t> roots;
  const auto wanted = static_cast<std::uint32_t>(1 + random() % 4);
  for (std::uint32_t r = 0; r < wanted; ++r) roots.push_back(static_cast<std::uint32_t>(random() % nodes));
  std::sort(roots.begin(), roots.end());
  ObjectGraph graph = plain_graph(nodes, edges, roots);
  for (std::uint32_t& label : graph.label) label = random() % 8 == 0 ? kEdgeIsWeak : 0;
  return graph;
}

}  // namespace

TEST_CASE("object dominators: a diamond belongs to its top, its sides keep only themselves") {
  //      0 -> 1 -> {2, 3} -> 4 -> 5
  const ObjectGraph graph = plain_graph(6, {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 5}}, {0});
  const DominatorTree tree = tree_of(graph);
  CHECK(immediate_dominators(tree, 6) == std::vector<std::uint32_t>{kNoNode, 0, 1, 1, 1, 4});
  const std::vector<Retained> expected{{6, 21}, {5, 20}, {1, 3}, {1, 4}, {2, 11}, {1, 6}};
  CHECK(retained_of(tree, 6) == expected);
}

TEST_CASE("object dominators: what two roots reach belongs to neither") {
  const ObjectGraph graph = plain_graph(4, {{0, 2}, {1, 2}, {2, 3}}, {0, 1});
  const DominatorTree tree = tree_of(graph);
  CHECK(immediate_dominators(tree, 4) == std::vector<std::uint32_t>{kNoNode, kNoNode, kNoNode, 2});
  CHECK(retained_of(tree, 4) == std::vector<Retained>{{1, 1}, {1, 2}, {2, 7}, {1, 4}});
}

TEST_CASE("object dominators: an object that is a root belongs to no holder") {
  const ObjectGraph graph = plain_graph(3, {{0, 1}, {1, 2}}, {0, 2, 2});
  CHECK(immediate_dominators(tree_of(graph), 3) == std::vector<std::uint32_t>{kNoNode, 0, kNoNode});
}

TEST_CASE("object dominators: weak references keep nothing") {
  ObjectGraph graph = plain_graph(3, {{0, 1}, {0, 2}, {1, 2}}, {0});
  graph.label[1] = kEdgeIsWeak | 5;
  CHECK(immediate_dominators(tree_of(graph), 3) == std::vector<std::uint32_t>{kNoNode, 0, 1});
  for (std::uint32_t& label : graph.label) label = kEdgeIsWeak;
  const DominatorTree alone = tree_of(graph);
  CHECK(alone.order == std::vector<std::uint32_t>{0});
}

TEST_CASE("object dominators: sizes may be missing, and may not pass 2^63-1") {
  ObjectGraph graph = plain_graph(2, {{0, 1}}, {0});
  graph.self_bytes.clear();
  CHECK(tree_of(graph).retained_bytes(0) == 0);
  CHECK(tree_of(graph).objects == std::vector<std::uint32_t>{2, 1});
  graph.self_bytes = {std::numeric_limits<std::int64_t>::max(), 1};
  const auto tree = dominator_tree(graph, find_roots(graph).nodes);
  REQUIRE_FALSE(tree);
  CHECK(tree.error().code == ErrorCode::limit);
}

TEST_CASE("object roots: told ones, flagged ones, those nobody holds, the first one") {
  CHECK(find_roots(plain_graph(3, {{0, 1}}, {1, 1, 2})).nodes == std::vector<std::uint32_t>{1, 2});
  ObjectGraph flagged = plain_graph(3, {{0, 1}, {1, 2}}, {});
  flagged.flags[2] = kObjectRoot;
  CHECK(find_roots(flagged).nodes == std::vector<std::uint32_t>{2});
  CHECK(find_roots(flagged).rule == RootRule::flagged);
  // A loop of one is no holder.
  const RootSet unheld = find_roots(plain_graph(4, {{0, 1}, {1, 2}, {2, 1}, {3, 3}}, {}));
  CHECK(unheld.nodes == std::vector<std::uint32_t>{0, 3});
  CHECK(unheld.rule == RootRule::unheld);
  const RootSet first = find_roots(plain_graph(3, {{0, 1}, {1, 0}, {2, 2}, {0, 2}}, {}));
  CHECK(first.nodes == std::vector<std::uint32_t>{0});
  CHECK(first.rule == RootRule::first);
  CHECK(find_roots(plain_graph(0, {}, {})).nodes.empty());
  CHECK(tree_of(plain_graph(0, {}, {})).size() == 0);
}

TEST_CASE("object dominators: same as Boost on random graphs") {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    const ObjectGraph graph = random_graph(random, round % 10 == 0 ? 200 : 24, 4);
    CAPTURE(round, graph.size());
    REQUIRE(immediate_dominators(tree_of(graph), graph.size()) == by_boost(graph, find_roots(graph).nodes));
  }
}

TEST_CASE("object dominators: retained is what goes when the object is deleted, on random graphs") {
  std::mt19937 random(5);
  for (int round = 0; round < test::rounds(40, 10); ++round) {
    const ObjectGraph graph = random_graph(random, round == 0 ? 3000 : 250, 3);
    const std::vector<std::uint32_t> roots = find_roots(graph).nodes;
    const DominatorTree tree = tree_of(graph);
    const std::vector<Retained> retained = retained_of(tree, graph.size());
    bool same = true;
    for (std::uint32_t node = 0; node < graph.size(); ++node)
      same = same && retained[node] == by_removal(graph, roots, node);
    CAPTURE(round, graph.size());
    REQUIRE(same);
    // What hangs right below the roots adds up to all that they reach.
    Retained top, all;
    const std::vector<std::uint32_t> idom = immediate_dominators(tree, graph.size());
    const std::vector<bool> reached = reach(graph, roots);
    for (std::uint32_t node = 0; node < graph.size(); ++node) {
      if (!reached[node]) continue;
      all.objects += 1;
      all.bytes += graph.self_bytes[node];
      if (idom[node] != kNoNode) continue;
      top.objects += retained[node].objects;
      top.bytes += retained[node].bytes;
    }
    REQUIRE(top == all);
  }
}

TEST_CASE("object dominators: hostile shapes end, without recursion") {
  constexpr auto kNodes = test::rounds<std::uint32_t>(5'000'000, 1'000'000);
  const std::string shape =
      GENERATE(as<std::string>{}, "chain", "chain with ways back", "star", "star inwards", "ladder");
  Edges edges;
  edges.reserve(std::size_t{kNodes} * 2);
  for (std::uint32_t n = 0; n + 1 < kNodes; ++n) {
    if (shape.rfind("chain", 0) == 0) edges.emplace_back(n, n + 1);
    if (shape == "chain with ways back") edges.emplace_back(n + 1, n / 2 + 1);
    if (shape.rfind("star", 0) == 0) edges.emplace_back(0, n + 1);
    if (shape == "star inwards") edges.emplace_back(n + 1, 0);
    if (shape == "ladder") {
      edges.emplace_back(n, n + 1);
      if (n + 2 < kNodes) edges.emplace_back(n, n + 2);
    }
  }
  const ObjectGraph graph = plain_graph(kNodes, edges, {0});
  edges = {};
  const std::vector<std::uint32_t> idom = immediate_dominators(tree_of(graph), kNodes);
  bool right = idom[0] == kNoNode;
  for (std::uint32_t n = 1; n < kNodes; ++n) {
    const std::uint32_t expected = shape.rfind("chain", 0) == 0 ? n - 1 : 0;
    right = right && idom[n] == expected;
  }
  CHECK(right);
}

TEST_CASE("dominators: a chain with many that hang on both of its ends takes no step for each pair") {
  // 0 -> 1 -> ... -> n, and leaves that both 0 and n hold: each of them would walk the whole chain to find 0.
  constexpr std::uint32_t kChain = 150'000;
  constexpr std::uint32_t kLeaves = 150'000;
  Edges edges;
  for (std::uint32_t n = 0; n + 1 < kChain; ++n) edges.emplace_back(n, n + 1);
  for (std::uint32_t i = 0; i < kLeaves; ++i) edges.emplace_back(kChain - 1, kChain + i);
  // Held from points all along the chain, too.
  for (std::uint32_t i = 0; i < kLeaves; ++i) edges.emplace_back(i % 3 == 0 ? 0 : i % kChain, kChain + i);
  const ObjectGraph graph = plain_graph(kChain + kLeaves, edges, {0});
  const std::vector<std::uint32_t> found = immediate_dominators(tree_of(graph), graph.size());
  std::size_t wrong = 0;
  for (std::uint32_t n = 1; n < kChain; ++n) wrong += found[n] == n - 1 ? 0U : 1U;
  for (std::uint32_t i = 0; i < kLeaves; ++i)
    wrong += found[kChain + i] == (i % 3 == 0 ? 0 : std::min(i % kChain, kChain - 1)) ? 0U : 1U;
  CHECK(found[0] == kNoNode);
  CHECK(wrong == 0);
}
