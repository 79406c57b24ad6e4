#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/base/object_graph.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::graph {

inline constexpr std::uint32_t kUnreachable = std::numeric_limits<std::uint32_t>::max();

/// Who keeps whom alive, from a virtual root over all roots. Places are positions in a preorder of the
/// tree: place p and everything it dominates are order[p .. p + objects[p]).
///   order         nodes, the virtual root and what no root reaches left out
///   objects       retained objects, the node itself included
///   bytes_before  own bytes of order[0 .. p); one longer than order; empty without sizes
struct DominatorTree {
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> objects;
  std::vector<std::int64_t> bytes_before;

  std::size_t size() const { return order.size(); }
  std::int64_t retained_bytes(std::size_t place) const {
    return bytes_before.empty() ? 0 : bytes_before[place + objects[place]] - bytes_before[place];
  }
};

/// Semi-NCA (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005) without
/// recursion; weak references are not followed. Beside the graph it takes up to 12.3 bytes a node and
/// 4 a reference that is no tree edge of the search, and gives back 16 bytes a node (analyzer/objects/README.md).
/// Errors: limit (sizes beyond 2^63-1; 2^32 references or more that are no tree edges).
Result<DominatorTree> dominator_tree(const ObjectGraph& graph, std::span<const std::uint32_t> roots);

/// Per node its immediate dominator, kUnreachable for those that only the roots dominate and for those
/// that no root reaches.
std::vector<std::uint32_t> immediate_dominators(const DominatorTree& tree, std::size_t nodes);

/// The same of a directed graph from node 0.
///
/// @param nodes  number of nodes, at least 1
/// @param edges  (from, to), any order, repeats and loops allowed, both < nodes; fewer than 2^32 - 1
/// @return       one entry per node: its immediate dominator, 0 for node 0, kUnreachable for a
///               node that no path from node 0 reaches
std::vector<std::uint32_t> immediate_dominators(std::uint32_t nodes,
                                                std::span<const std::pair<std::uint32_t, std::uint32_t>> edges);

}  // namespace snapdiff::graph
