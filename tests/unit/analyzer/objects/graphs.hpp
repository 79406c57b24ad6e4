#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/base/object_graph.hpp"
#include "analyzer/base/snapshot_builder.hpp"

/// Object graphs for tests, built by hand: nodes by name, then references.
namespace objects_test {

using namespace snapdiff;

class GraphMaker {
 public:
  /// Returns the number of the node.
  std::uint32_t node(std::string_view type, std::int64_t bytes = 1, std::uint8_t flags = 0,
                     std::uint64_t id = kNoObjectId, std::string_view kind = "object") {
    const StringId type_name = builder_.string(type);
    const StringId kind_name = builder_.string(kind);
    std::uint32_t row = 0;
    while (row < graph_.types.size() && (graph_.types.name[row] != type_name || graph_.types.kind[row] != kind_name))
      ++row;
    if (row == graph_.types.size()) {
      graph_.types.name.push_back(type_name);
      graph_.types.kind.push_back(kind_name);
    }
    graph_.type.push_back(row);
    graph_.self_bytes.push_back(bytes);
    graph_.flags.push_back(flags);
    graph_.id.push_back(id);
    edges_.emplace_back();
    return static_cast<std::uint32_t>(graph_.type.size() - 1);
  }
  void edge(std::uint32_t from, std::uint32_t to, std::string_view label) {
    edges_[from].emplace_back(to, static_cast<std::uint32_t>(builder_.string(label)));
  }
  void weak(std::uint32_t from, std::uint32_t to, std::string_view label) {
    edges_[from].emplace_back(to, static_cast<std::uint32_t>(builder_.string(label)) | kEdgeIsWeak);
  }
  void element(std::uint32_t from, std::uint32_t to, std::uint32_t index) {
    edges_[from].emplace_back(to, index | kEdgeIsIndex);
  }
  /// In ascending order of nodes.
  void root(std::uint32_t node, std::string_view kind = "root") {
    graph_.roots.push_back({node, builder_.string(kind)});
  }
  ObjectGraph& graph() { return graph_; }
  SnapshotFacts& facts() { return builder_.facts(); }

  SnapshotRef finish(std::string name = "graph") {
    SnapshotRef ref;
    for (const auto& list : edges_) {
      for (const auto& [to, label] : list) {
        graph_.to.push_back(to);
        graph_.label.push_back(label);
      }
      graph_.edge_begin.push_back(graph_.to.size());
    }
    auto graph = std::make_shared<ObjectGraph>(std::move(graph_));
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->dictionary = std::make_shared<Dictionary>(builder_.dictionary());
    snapshot->graph = graph;
    snapshot->facts = builder_.facts();
    ref.snapshot = std::move(snapshot);
    ref.ref = std::move(name);
    return ref;
  }

 private:
  SnapshotBuilder builder_;
  ObjectGraph graph_;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> edges_;
};

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// A graph of one type without names; sizes 1, 2, 3, ...
inline ObjectGraph plain_graph(std::uint32_t nodes, const Edges& edges, std::vector<std::uint32_t> roots) {
  ObjectGraph graph;
  graph.types.kind.push_back(StringId{});
  graph.types.name.push_back(StringId{});
  graph.type.assign(nodes, 0);
  graph.flags.assign(nodes, 0);
  for (std::uint32_t n = 0; n < nodes; ++n) graph.self_bytes.push_back(n + 1);
  std::vector<std::uint64_t> begin(nodes + 1U, 0);
  for (const auto& edge : edges) ++begin[edge.first + 1U];
  for (std::size_t n = 0; n < nodes; ++n) begin[n + 1] += begin[n];
  graph.edge_begin = begin;
  graph.to.resize(edges.size());
  graph.label.assign(edges.size(), 0);
  for (const auto& edge : edges) graph.to[begin[edge.first]++] = edge.second;
  for (const std::uint32_t root : roots) graph.roots.push_back({root, StringId{}});
  return graph;
}

/// What the roots reach without passing `without`: the oracle of everything here.
inline std::vector<bool> reach(const ObjectGraph& graph, const std::vector<std::uint32_t>& roots,
                               std::uint32_t without = 0xffffffff) {
  std::vector<bool> seen(graph.size());
  std::vector<std::uint32_t> open;
  for (const std::uint32_t root : roots) {
    if (root == without || seen[root]) continue;
    seen[root] = true;
    open.push_back(root);
  }
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    for (std::uint64_t e = graph.edge_begin[node]; e < graph.edge_begin[node + 1]; ++e) {
      const std::uint32_t to = graph.to[e];
      if ((graph.label[e] & kEdgeIsWeak) != 0 || to == without || seen[to]) continue;
      seen[to] = true;
      open.push_back(to);
    }
  }
  return seen;
}

}  // namespace objects_test
