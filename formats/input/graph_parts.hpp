#pragma once

#include "analyzer/base/object_graph.hpp"
#include "analyzer/base/snapshot_builder.hpp"
#include "formats/input/read_failure.hpp"

/// What all readers of object graphs do.
namespace snapdiff::formats {

/// Finds the rows of one ObjectTypeTable, which nothing else may fill.
class TypeRows {
 public:
  /// The row of this kind and name, made where there is none.
  std::uint32_t row(ObjectTypeTable& types, StringId kind, StringId name) {
    const std::uint64_t hash = mix64((static_cast<std::uint64_t>(kind) << 32) | static_cast<std::uint64_t>(name));
    const auto [row, is_new] = rows_.intern(
        hash, types.size(), [&](std::uint32_t r) { return types.kind[r] == kind && types.name[r] == name; });
    if (is_new) {
      types.kind.push_back(kind);
      types.name.push_back(name);
    }
    return row;
  }

 private:
  HashIndex rows_;
};

inline constexpr std::uint32_t kNoEdge = std::numeric_limits<std::uint32_t>::max();

/// Edges in the order in which they come; those from kNoEdge are left out.
struct Edges {
  std::vector<std::uint32_t> from, to, label;

  void add(std::uint32_t holder, std::uint32_t held, std::uint32_t called) {
    from.push_back(holder);
    to.push_back(held);
    label.push_back(called);
  }
  /// By node, of `nodes`: whether another one holds it.
  std::vector<bool> held(std::size_t nodes) const {
    std::vector<bool> out(nodes);
    for (std::size_t edge = 0; edge < to.size(); ++edge) {
      if (from[edge] != kNoEdge && to[edge] != from[edge]) out[to[edge]] = true;
    }
    return out;
  }
};

/// Edges by their holders, else in their order. Each column is given up as soon as it is placed.
inline void place_edges(ObjectGraph& graph, Edges edges) {
  const std::vector<std::uint32_t>& from = edges.from;
  std::vector<std::uint64_t>& begin = graph.edge_begin;
  begin.assign(graph.size() + 1, 0);
  for (const std::uint32_t node : from) {
    if (node != kNoEdge) ++begin[node + 1];
  }
  for (std::size_t node = 0; node < graph.size(); ++node) begin[node + 1] += begin[node];
  const auto place = [&](std::vector<std::uint32_t>& given) {
    std::vector<std::uint32_t> placed(begin.back());
    for (std::size_t edge = 0; edge < from.size(); ++edge) {
      if (from[edge] != kNoEdge) placed[begin[from[edge]]++] = given[edge];
    }
    // Each begin is at its end now, which is where the next one was.
    for (std::size_t node = graph.size(); node > 0; --node) begin[node] = begin[node - 1];
    begin[0] = 0;
    given = {};
    return placed;
  };
  graph.to = place(edges.to);
  graph.label = place(edges.label);
}

/// Sorts the roots, each once, and marks their nodes.
inline void finish_roots(ObjectGraph& graph) {
  std::sort(graph.roots.begin(), graph.roots.end(), [](const ObjectRoot& a, const ObjectRoot& b) {
    return a.node != b.node ? a.node < b.node : a.kind < b.kind;
  });
  graph.roots.erase(std::unique(graph.roots.begin(), graph.roots.end()), graph.roots.end());
  for (const ObjectRoot& root : graph.roots) graph.flags[root.node] |= kObjectRoot;
}

/// Checks the graph and hands it to the builder, with a counter of its references. Throws Failure.
inline void give_graph(SnapshotBuilder& builder, std::shared_ptr<ObjectGraph> graph) {
  builder.facts().counters.push_back({"references", static_cast<std::int64_t>(graph->to.size()), "count"});
  value_or_throw(validate(*graph, builder.dictionary()));
  builder.set_graph(std::move(graph));
}

}  // namespace snapdiff::formats
