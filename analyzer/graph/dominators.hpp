#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace snapdiff::graph {

inline constexpr std::uint32_t kUnreachable = 0xffffffff;

/// Immediate dominators of a directed graph from node 0, by the Semi-NCA algorithm (Georgiadis,
/// "Linear-Time Algorithms for Dominators and Related Problems", 2005), without recursion.
///
/// @param nodes  number of nodes, at least 1
/// @param edges  (from, to), any order, repeats and loops allowed, both < nodes
/// @return       one entry per node: its immediate dominator, 0 for node 0, kUnreachable for a
///               node that no path from node 0 reaches
std::vector<std::uint32_t> immediate_dominators(std::uint32_t nodes,
                                                std::span<const std::pair<std::uint32_t, std::uint32_t>> edges);

}  // namespace snapdiff::graph
