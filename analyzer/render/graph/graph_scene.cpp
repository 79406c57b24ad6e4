#include "analyzer/render/graph/graph_scene.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/render/graph/graph_layout.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

using graph::Edge;
using graph::GrowthGraph;
using graph::Node;

constexpr double kGraphScenePad = 8;
constexpr double kHiddenLabelSize = 7;
constexpr double kHiddenLabelWidth = 150;
constexpr double kSparkWidth = 30;

/// Sizes of one level of detail.
struct Measures {
  double least_w, most_w, name, suspect_name, growth, share, small;
};
/// The fewer boxes, the wider they may be: a page of three has no need to cut names.
Measures measures_of(bool full, std::size_t nodes) {
  Measures m = full ? Measures{88, 176, 9, 10, 9.2, 8.4, 7} : Measures{64, 128, 8, 8.6, 8, 7.4, 7};
  constexpr std::size_t kFew = 8, kSome = 16;
  if (nodes <= kSome) m.most_w *= nodes <= kFew ? 2 : 1.4;
  return m;
}

TextStyle name_style(const Measures& m, const Node& node) {
  return {node.spine || node.suspect >= 0 ? m.suspect_name : m.name, FontWeight::semibold};
}
TextStyle growth_style(const Measures& m) { return {m.growth, FontWeight::semibold}; }

/// Within two standard deviations a growth may be chance.
bool is_unsure(const Node& node) {
  return node.error > 0 && std::fabs(static_cast<double>(node.cumulative.net())) < 2 * node.error;
}

/// "+11 000 × 240 B": what was allocated in the function itself.
std::string here_text(const Node& node, const Quantity& quantity, bool growth) {
  if (node.flat.grew == 0 && node.flat.shrank == 0) return "";
  std::string text;
  if (node.flat != node.cumulative)
    text = std::string("here ").append(growth ? quantity.growth(node.flat.net()) : quantity.value(node.flat.net()));
  if (node.flat_objects == 0 || !quantity.bytes) return text;
  if (!text.empty()) text += ", ";
  text += growth ? count_growth_text(node.flat_objects) : count_text(node.flat_objects);
  if (node.object_bytes > 0) return text.append(" \u00d7 ").append(size_text(node.object_bytes));
  return text.append(node.flat_objects == 1 || node.flat_objects == -1 ? " object" : " objects");
}

/// The same with its site, "+11 000 × 240 B  ·  svc_cache.cc:24", of which only the site is cut.
std::string here_and_site(const Node& node, const Quantity& quantity, bool growth, Typesetter& type,
                          const TextStyle& style, double room) {
  std::string text = type.fit_end(here_text(node, quantity, growth), style, room);
  if (node.site.empty()) return text;
  if (!text.empty()) text += "  \u00b7  ";
  const double left = room - type.width(text, style);
  constexpr double kLeastSite = 30;
  if (left >= kLeastSite) return text.append(type.fit_middle(printable(node.site), style, left));
  return type.fit_end(here_text(node, quantity, growth), style, room);
}

/// "2 frames hidden: _start, libc.so.6"; names only on the critical path, where there is space.
std::string hidden_label(const Edge& edge, Typesetter& type) {
  if (!edge.residual) return "";
  std::string text = edge.hidden_varies ? "frames hidden" : counted(edge.hidden_count, "frame") + " hidden";
  if (!edge.spine || edge.hidden_frames.empty()) return text;
  text += edge.hidden_varies ? ", e.g. " : ": ";
  for (std::size_t i = 0; i < edge.hidden_frames.size(); ++i)
    text.append(i == 0 ? "" : ", ").append(printable(edge.hidden_frames[i]));
  if (edge.hidden_frames.size() < edge.hidden_count) text += ", \u2026";
  return type.fit_end(text, {kHiddenLabelSize}, kHiddenLabelWidth);
}

GraphScene::NodeBox measure(const GrowthGraph& graph, std::size_t index, const Quantity& quantity, Typesetter& type,
                            Detail detail, const SceneWords& words) {
  const Node& node = graph.nodes[index];
  const bool full = detail == Detail::full || (detail == Detail::mixed && (node.spine || node.suspect >= 0));
  const Measures m = measures_of(full, graph.nodes.size());
  GraphScene::NodeBox out;
  out.full = full;
  out.loop = node.recursive;
  out.unsure = is_unsure(node);
  out.growth = words.growth ? quantity.growth(node.cumulative.net()) : quantity.value(node.cumulative.net());
  if (out.unsure) out.growth += " ~";
  if (index == 0) {
    out.name = mostly_grew(graph) ? words.root : words.root_both;
    const double w =
        std::max(type.width(out.name, {8.4, FontWeight::semibold}), type.width(out.growth, growth_style(m)) + 10);
    out.box.w = std::max(96.0, w + 2 * kGraphScenePad);
    out.box.h = 33;
    return out;
  }
  const double inner = m.most_w - 2 * kGraphScenePad;
  const double marks = (out.loop ? 13 : 0) + (node.suspect >= 0 ? 14 : 0);
  out.name = type.fit_middle(printable(node.name), name_style(m, node), inner - marks);
  if (mostly_grew(graph) && node.cumulative.net() > 0)
    out.share = share_text(static_cast<double>(node.cumulative.grew) / static_cast<double>(graph.total.grew));
  const bool long_series = node.series.size() > 2;
  out.spark = full && long_series && (node.spine || node.suspect >= 0 || node.flat.importance() > 0);

  double w = type.width(out.name, name_style(m, node)) + marks;
  double growth_w = type.width(out.growth, growth_style(m)) + m.growth;
  if (!out.share.empty()) growth_w += type.width(out.share, {m.share}) + 6;
  if (out.spark) growth_w += kSparkWidth + 8;
  w = std::max(w, growth_w);
  double h = full ? 34 : 29;
  if (full) {
    if (words.growth)
      out.values = quantity.value(node.value.baseline).append(" \u2192 ").append(quantity.value(node.value.current));
    const std::uint64_t small = std::min(static_cast<std::uint64_t>(node.cumulative.grew),
                                         0 - static_cast<std::uint64_t>(node.cumulative.shrank));
    if (small > node.cumulative.importance() / 100)
      out.values += concat("   ", quantity.growth(node.cumulative.grew), " ", quantity.growth(node.cumulative.shrank));
    out.values = type.fit_end(out.values, {m.small}, inner);
    if (!out.values.empty()) h += 11.5;
    w = std::max(w, type.width(out.values, {m.small}));
    out.here = here_and_site(node, quantity, words.growth, type, {m.small}, inner);
    if (!out.here.empty()) {
      h += 10.5;
      w = std::max(w, type.width(out.here, {m.small}));
    }
  }
  out.box.w = std::clamp(w + 2 * kGraphScenePad, m.least_w, m.most_w);
  out.box.h = h;
  return out;
}

}  // namespace

std::string node_anchor(const std::string& prefix, std::size_t node) { return concat(prefix, "n", node); }

double edge_width(const GraphScene& scene, double importance) {
  return scene.max_importance > 0 ? 0.5 + 5.5 * std::sqrt(importance / scene.max_importance) : 0.5;
}

bool mostly_grew(const GrowthGraph& graph) {
  return graph.total.grew > 0 &&
         (0 - static_cast<std::uint64_t>(graph.total.shrank)) < static_cast<std::uint64_t>(graph.total.grew) / 100;
}

Result<GraphScene> make_scene(GrowthGraph graph, Typesetter& type, Detail detail, double rank_gap,
                              const SceneWords& words) {
  GraphScene scene;
  scene.words = words;
  scene.graph = std::move(graph);
  scene.quantity = quantity_of(scene.graph.unit);
  scene.detail = detail;
  LayoutGraph layout;
  layout.rank_gap = rank_gap;
  layout.node_gap = detail == Detail::full ? 15 : 10;
  for (std::size_t i = 0; i < scene.graph.nodes.size(); ++i) {
    const Node& node = scene.graph.nodes[i];
    scene.nodes.push_back(measure(scene.graph, i, scene.quantity, type, detail, words));
    layout.nodes.push_back({scene.nodes[i].box.w, scene.nodes[i].box.h, node.spine});
    scene.max_net = std::max(scene.max_net, std::fabs(static_cast<double>(node.cumulative.net())));
  }
  for (const Edge& edge : scene.graph.edges) {
    GraphScene::EdgeCurve curve;
    curve.label = hidden_label(edge, type);
    const double label_w = curve.label.empty() ? 0 : type.width(curve.label, {kHiddenLabelSize}) + 10;
    layout.edges.push_back({edge.from, edge.to, edge.spine, label_w, label_w > 0 ? 10.0 : 0.0});
    scene.edges.push_back(std::move(curve));
    scene.max_importance = std::max(scene.max_importance, static_cast<double>(edge.weight.importance()));
  }
  Result<LayoutResult> placed = lay_out(layout);
  if (!placed) return std::move(placed).error();
  scene.w = placed->w;
  scene.h = placed->h;
  for (std::size_t i = 0; i < scene.nodes.size(); ++i) {
    Box& box = scene.nodes[i].box;
    box.x = placed->nodes[i].x - box.w / 2;
    box.y = placed->nodes[i].y - box.h / 2;
  }
  for (std::size_t i = 0; i < scene.edges.size(); ++i) {
    scene.edges[i].points = std::move(placed->edges[i]);
    scene.edges[i].label_at = placed->labels[i];
  }
  return scene;
}

}  // namespace snapdiff::render
