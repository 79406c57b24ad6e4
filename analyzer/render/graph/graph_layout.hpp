#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/render/paint/geometry.hpp"
#include "snapdiff/result.hpp"

/// Positions of a drawn graph, by Graphviz's dot, in process.
namespace snapdiff::render {

/// The input of dot: measured sizes, no texts, so that positions do not depend on its own fonts.
struct LayoutGraph {
  struct Node {
    double w = 0, h = 0;
    bool spine = false;
  };
  struct Edge {
    std::uint32_t from = 0, to = 0;
    bool spine = false;
    double label_w = 0, label_h = 0;  ///< 0: no label
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  double rank_gap = 30;  ///< between rows
  double node_gap = 16;  ///< between neighbours
};

struct LayoutResult {
  double w = 0, h = 0;
  std::vector<Point> nodes;               ///< centres
  std::vector<std::vector<Point>> edges;  ///< 3k + 1 points of Bezier curves, caller side first; empty: none
  std::vector<Point> labels;              ///< centres; only where an edge has one
};

/// One at a time in the whole process: Graphviz has global state.
/// Errors: internal, when dot refuses; the message is dot's own.
Result<LayoutResult> lay_out(const LayoutGraph& graph);

/// A DOT file.
struct DotNode {
  std::string label, tooltip, fill, border;
  bool bold = false, gone = false, added = false;
};
struct DotEdge {
  std::uint32_t from = 0, to = 0;
  std::string label, color;
  double width = 1;
  bool residual = false, shrinks = false;
};
/// Labels and tooltips are plain texts: they are quoted here. '\n' begins a new line.
Result<std::string> write_dot(const std::string& title, const std::vector<DotNode>& nodes,
                              const std::vector<DotEdge>& edges);

}  // namespace snapdiff::render
