#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/graph/growth_graph.hpp"
#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/paint/text.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::render {

/// full: name, growth and share, before -> after, what was allocated right here, sparkline.
/// compact: name, growth and share. mixed: full on the critical path and at culprits, else compact.
enum class Detail : std::uint8_t { full, mixed, compact };

/// Words for the parts of a graph: of allocation stacks, or of retained objects.
struct SceneWords {
  std::string_view root = "all growth";       ///< where nearly all grew
  std::string_view root_both = "all change";  ///< where something shrank, too
  std::string_view fill = "Fill: net growth";
  std::string_view passes_growth = "Edge: width is the growth that passes";
  std::string_view passes_shrinkage = "Edge: width is the shrinkage that passes";
  std::string_view passes_both = "Edge: width is growth + shrinkage";
  std::string_view here = "allocated here: ";
  bool growth = true;  ///< false: sizes, not growth: no signs, no "before \u2192 after"
};

/// A growth graph with measured boxes and their places.
struct GraphScene {
  struct NodeBox {
    Box box;
    std::string name;  ///< as it fits
    std::string growth, share, values, here;
    bool full = true;
    bool loop = false, unsure = false, spark = false;
  };
  struct EdgeCurve {
    std::vector<Point> points;
    std::string label;
    Point label_at;
  };
  graph::GrowthGraph graph;
  SceneWords words;
  Quantity quantity;
  Detail detail = Detail::full;
  std::vector<NodeBox> nodes;    ///< parallel to graph.nodes
  std::vector<EdgeCurve> edges;  ///< parallel to graph.edges
  double w = 0, h = 0;
  double max_net = 0;         ///< of the nodes, for the fill
  double max_importance = 0;  ///< of the edges, for the width
};

/// Measures and lays out; `rank_gap` points between rows of boxes. Errors: internal, from Graphviz.
Result<GraphScene> make_scene(graph::GrowthGraph graph, Typesetter& type, Detail detail, double rank_gap,
                              const SceneWords& words = {});
inline constexpr double kRankGap = 28, kTightRankGap = 17;

/// Shrinkage is below a hundredth of growth: shares of all growth say something.
bool mostly_grew(const graph::GrowthGraph& graph);

/// Where the links of a page lead: node i is the anchor `prefix` + "n" + i, and links to
/// targets[i] where that is not empty.
struct SceneLinks {
  std::string prefix;
  std::vector<std::string> targets;
  bool numbered = false;  ///< culprits carry the number they have in a table on the page
};
std::string node_anchor(const std::string& prefix, std::size_t node);

void draw_scene(const GraphScene& scene, Canvas& canvas, const SceneLinks& links);

/// Its parts, for drawings of parts: one node with its anchor and link, the pen of an edge, the label of one.
void draw_scene_node(const GraphScene& scene, std::size_t node, Canvas& canvas, const SceneLinks& links);
Stroke edge_stroke(const GraphScene& scene, std::size_t edge);
void draw_edge_label(const GraphScene::EdgeCurve& curve, Canvas& canvas);

/// Keys of fill, edge width and border, what is hidden, and the sum. Top at y; kLegendHeight high.
inline constexpr double kLegendHeight = 58;
void draw_legend(const GraphScene& scene, Canvas& canvas, double y);

/// Pen width of an edge.
double edge_width(const GraphScene& scene, double importance);

}  // namespace snapdiff::render
