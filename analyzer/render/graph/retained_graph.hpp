#pragma once

#include "analyzer/graph/growth_graph.hpp"
#include "snapdiff/retention.hpp"

namespace snapdiff::render {

/// A dominator tree as a graph for drawing: at most `max_nodes` places beside the root, those through which
/// most growth and shrinkage passes (of one heap: which retain most). Growth of a place: of its own bytes,
/// growing and shrinking places apart. Errors: internal (drawn + hidden != total).
Result<graph::GrowthGraph> retained_graph(const RetainedTree& tree, const graph::GraphOptions& options,
                                          std::size_t max_nodes);

}  // namespace snapdiff::render
