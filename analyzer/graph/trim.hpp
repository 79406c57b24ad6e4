#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/graph/growth_model.hpp"

namespace snapdiff::graph {

/// An edge between two kept candidates.
struct KeptEdge {
  std::uint32_t from = 0, to = 0;
  Weight weight;
  bool direct = false;         ///< some stack has nothing between
  std::uint32_t path = kNone;  ///< the heaviest path over it
  std::uint64_t between = 0;   ///< distinguishes what that path hides
  bool varies = false;
};

/// The candidates to draw: kept[c] for each candidate, root included.
std::vector<std::uint8_t> choose_nodes(const GrowthModel::Data& data, std::size_t max_nodes);

/// All edges between kept candidates, by (from, to).
std::vector<KeptEdge> edges_between(const GrowthModel::Data& data, const std::vector<std::uint8_t>& kept);

}  // namespace snapdiff::graph
