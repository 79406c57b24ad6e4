#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/base/object_graph.hpp"
#include "analyzer/base/retention.hpp"
#include "analyzer/graph/dominators.hpp"

namespace snapdiff::objects {

using graph::dominator_tree;
using graph::DominatorTree;
using graph::immediate_dominators;

inline constexpr std::uint32_t kNoNode = graph::kUnreachable;

/// Where a search for what is alive begins: distinct nodes, ascending. See RootRule.
struct RootSet {
  std::vector<std::uint32_t> nodes;
  RootRule rule = RootRule::told;
};
RootSet find_roots(const ObjectGraph& graph);

}  // namespace snapdiff::objects
