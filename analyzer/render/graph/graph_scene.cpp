#include "analyzer/render/graph/graph_scene.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/base/concat.hpp"
#include "analyzer/document/terms.hpp"
#include "analyzer/render/graph/graph_layout.hpp"

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
  double least_w, most_w, name, culprit_name, growth, share, small;
};
/// The fewer boxes, the wider they may be: a page of three has no need to cut names.
Measures measures_of(bool full, std::size_t nodes) {
  Measures m = full ? Measures{88, 176, 9, 10, 9.2, 8.4, 7} : Measures{64, 128, 8, 8.6, 8, 7.4, 7};
  constexpr std::size_t kFew = 8, kSome = 16;
  if (nodes <= kSome) m.most_w *= nodes <= kFew ? 2 : 1.4;
  return m;
}

TextStyle name_style(const Measures& m, const Node& node) {
  return {node.spine || node.culprit >= 0 ? m.culprit_name : m.name, FontWeight::semibold};
}
TextStyle growth_style(const Measures& m) { return {m.growth, FontWeight::semibold}; }

bool is_unsure(const Node& node) {
  return document::within_error(static_cast<double>(node.cumulative.net()), node.error);
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
  const bool full = detail == Detail::full || (detail == Detail::mixed && (node.spine || node.culprit >= 0));
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
  const double marks = (out.loop ? 13 : 0) + (node.culprit >= 0 ? 14 : 0);
  out.name = type.fit_middle(printable(node.name), name_style(m, node), inner - marks);
  if (mostly_grew(graph) && node.cumulative.net() > 0)
    out.share = share_text(static_cast<double>(node.cumulative.grew) / static_cast<double>(graph.total.grew));
  const bool long_series = node.series.size() > 2;
  out.spark = full && long_series && (node.spine || node.culprit >= 0 || node.flat.importance() > 0);

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

using graph::Edge;
using graph::Node;

double net_of(const Edge& edge) { return static_cast<double>(edge.weight.net()); }

void draw_edge(const GraphScene& scene, std::size_t index, Canvas& canvas) {
  const Edge& edge = scene.graph.edges[index];
  const GraphScene::EdgeCurve& curve = scene.edges[index];
  if (curve.points.size() < 4) return;
  Path path;
  path.move(curve.points[0]);
  for (std::size_t i = 1; i + 2 < curve.points.size(); i += 3)
    path.curve(curve.points[i], curve.points[i + 1], curve.points[i + 2]);
  const Stroke stroke = edge_stroke(scene, index);
  Painter& painter = canvas.painter();
  std::string title = printable(scene.graph.nodes[edge.from].full_name).append(" \u2192 ");
  title += concat(printable(scene.graph.nodes[edge.to].full_name), ": ", scene.quantity.growth(edge.weight.net()));
  for (std::size_t i = 0; i < edge.hidden_frames.size(); ++i)
    title.append(i == 0 ? "; hidden: " : ", ").append(printable(edge.hidden_frames[i]));
  painter.begin_item(title);
  painter.stroke(path, stroke);
  const Point& from = curve.points.front();
  const Point& to = curve.points.back();
  if (to.y < from.y) {  // every other edge leads down and needs no arrow
    const double s = std::max(4.0, stroke.width * 1.5);
    painter.fill(Path().move({to.x - s / 2, to.y + s}).line({to.x + s / 2, to.y + s}).line(to).close(), stroke.color);
  }
  painter.end_item();
}

void draw_root(const GraphScene& scene, Canvas& canvas) {
  const GraphScene::NodeBox& node = scene.nodes[0];
  canvas.rect(node.box, kPaper, 3);
  canvas.frame(node.box, {kInk, 1.2}, 3);
  const double middle = node.box.x + node.box.w / 2;
  canvas.text(middle, node.box.y + 13, node.name, {8.4, FontWeight::semibold}, kInk, Align::centre);
  const std::int64_t net = scene.graph.nodes[0].cumulative.net();
  canvas.growth(middle, node.box.y + 26, scene.words.growth ? net : 0, node.growth, {9, FontWeight::semibold},
                growth_color(net, kInk), Align::centre);
}

void draw_frame(const GraphScene& scene, std::size_t index, Canvas& canvas) {
  const Node& node = scene.graph.nodes[index];
  const GraphScene::NodeBox& box = scene.nodes[index];
  const auto net = static_cast<double>(node.cumulative.net());
  const Ramp& ramp = ramp_of(net);
  canvas.rect(box.box, box.unsure ? kPanel : tint(net, scene.max_net), 3);
  Stroke border{node.spine ? ramp.c900 : ramp.c500, node.spine ? 1.6 : 0.7};
  if (node.gone) {
    border.dash_on = 4;
    border.dash_off = 2;
  }
  canvas.frame(box.box, border, 3);
  if (node.added)
    canvas.frame({box.box.x + 2.2, box.box.y + 2.2, box.box.w - 4.4, box.box.h - 4.4}, {ramp.c700, 0.6}, 2);
}

std::string tooltip(const GraphScene& scene, const Node& node) {
  std::string text = printable(node.full_name);
  const auto change = [&scene](std::int64_t value) {
    return scene.words.growth ? scene.quantity.growth(value) : scene.quantity.value(value);
  };
  text.append("\n").append(change(node.cumulative.net()));
  if (scene.words.growth)
    text += concat(" (", scene.quantity.value(node.value.baseline), " \u2192 ",
                   scene.quantity.value(node.value.current), ")");
  if (node.flat.importance() > 0) text.append("\n").append(scene.words.here).append(change(node.flat.net()));
  if (!node.site.empty()) text.append(" at ").append(printable(node.site));
  if (node.dominator != 0)
    text += concat("\n", share_text(node.through_dominator), " through ",
                   printable(scene.graph.nodes[node.dominator].name));
  for (std::size_t i = 0; i < node.members.size() && i < 12; ++i)
    text.append(i == 0 ? "\nloop of " : ", ").append(printable(node.members[i]));
  if (node.members.size() > 12) text.append(", \u2026");
  return text;
}

void draw_node(const GraphScene& scene, std::size_t index, bool numbered, Canvas& canvas) {
  const Node& node = scene.graph.nodes[index];
  const GraphScene::NodeBox& shown = scene.nodes[index];
  draw_frame(scene, index, canvas);
  const bool full = shown.full;
  const double x = shown.box.x + 8;
  double y = shown.box.y + (full ? 14 : 12.5);
  const TextStyle name{node.spine || node.culprit >= 0 ? (full ? 10.0 : 8.6) : (full ? 9.0 : 8.0),
                       FontWeight::semibold};
  const double w = canvas.text(x, y, shown.name, name, kInk);
  if (shown.loop) canvas.text(x + w + 4, y, "\u21bb", {name.size, FontWeight::semibold}, kInk2);
  if (numbered && node.culprit >= 0) {
    const Point centre{shown.box.x + shown.box.w - 11, y - name.size * 0.36};
    canvas.painter().fill(Path::circle(centre, 5.4), kInk);
    canvas.text(centre.x, centre.y + 2.4, std::to_string(node.culprit + 1), {6.8, FontWeight::semibold}, kPaper,
                Align::centre);
  }
  y += full ? 14 : 11.5;
  const auto net = static_cast<double>(node.cumulative.net());
  const double growth_size = full ? 9.2 : 8;
  const double growth_w =
      canvas.growth(x, y, scene.words.growth ? node.cumulative.net() : 0, shown.growth,
                    {growth_size, FontWeight::semibold}, shown.unsure || net == 0 ? kOnFill : ramp_of(net).c900);
  if (!shown.share.empty()) canvas.text(x + growth_w + 6, y, shown.share, {full ? 8.4 : 7.4}, kOnFill);
  if (shown.spark) canvas.sparkline({shown.box.x + shown.box.w - 38, y - 11, 30, 10}, node.series);
  if (!full) return;
  if (!shown.values.empty()) {
    y += 11;
    canvas.text(x, y, shown.values, {7}, kOnFill);
  }
  if (!shown.here.empty()) canvas.text(x, y + 10.5, shown.here, {7}, kOnFill);
}

/// Size of a value as the key shows it, its sign kept.
std::int64_t part_of(double whole, double share) { return static_cast<std::int64_t>(std::llround(whole * share)); }

void draw_fill_key(const GraphScene& scene, Canvas& canvas, double x, double y) {
  canvas.text(x, y + 13, scene.words.fill, {7.4, FontWeight::semibold}, kInk);
  std::size_t i = 0;
  const auto shares =
      scene.words.growth ? std::array{-1.0, -0.25, 0.0, 0.25, 1.0} : std::array{0.0, 0.0625, 0.25, 0.5, 1.0};
  for (const double share : shares) {
    const Box box{x + 32 * static_cast<double>(i++), y + 19, 30, 11};
    canvas.rect(box, tint(share, 1));
    canvas.frame(box, {kLine, 0.5});
    if (share != 0 && scene.words.growth) canvas.triangle(box.x + 12.5, box.y + 8, share > 0, 5, ramp_of(share).c700);
    // Rounding to 2^53 is far below what three digits show.
    const double most = std::min(scene.max_net, 9.2e18);
    const std::int64_t value = part_of(most, share);
    canvas.text(box.x + 15, y + 38.5, scene.words.growth ? scene.quantity.growth(value) : scene.quantity.value(value),
                {kSmallestText}, kInk2, Align::centre);
  }
}

void draw_width_key(const GraphScene& scene, Canvas& canvas, double x, double y) {
  canvas.text(x, y + 13,
              mostly_grew(scene.graph) || scene.graph.total == graph::Weight{} ? scene.words.passes_growth
              : scene.graph.total.grew == 0                                    ? scene.words.passes_shrinkage
                                                                               : scene.words.passes_both,
              {7.4, FontWeight::semibold}, kInk);
  std::size_t i = 0;
  for (const double share : {1.0, 0.25, 0.0625}) {
    const double left = x + 58 * static_cast<double>(i++);
    const double value = std::min(scene.max_importance, 9.2e18) * share;
    canvas.painter().stroke(Path().move({left, y + 25.5}).line({left + 18, y + 25.5}),
                            {kGrow.c500, edge_width(scene, value)});
    canvas.text(left + 22, y + 28, scene.quantity.value(part_of(value, 1)), {7}, kInk2);
  }
  if (scene.words.growth) canvas.text(x, y + 39, "dashed: shrinking    dotted: frames hidden", {7}, kInk2);
}

void draw_border_key(const GraphScene& scene, Canvas& canvas, double x, double y) {
  canvas.text(x, y + 13, "Border", {7.4, FontWeight::semibold}, kInk);
  // Where the next one begins.
  const auto sample = [&](double left, std::string_view word, const Stroke& stroke) {
    canvas.frame({left, y + 19, 20, 11}, stroke, 2);
    return left + 23 + canvas.text(left + 23, y + 27.5, word, {7}, kInk2) + 8;
  };
  const double added = sample(x, "critical path", {kGrow.c900, 1.6});
  if (!scene.words.growth) return;
  const double gone = sample(added, "new", {kGrow.c700, 0.7});
  canvas.frame({added + 2, y + 21, 16, 7}, {kGrow.c700, 0.6}, 1);
  sample(gone, "gone", {kShrink.c700, 0.7, 4, 2});
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

Stroke edge_stroke(const GraphScene& scene, std::size_t index) {
  const Edge& edge = scene.graph.edges[index];
  const Ramp& ramp = ramp_of(net_of(edge));
  Stroke stroke{edge.spine ? ramp.c500 : ramp.c300, edge_width(scene, static_cast<double>(edge.weight.importance()))};
  if (net_of(edge) < 0) {
    stroke.dash_on = 8;
    stroke.dash_off = 2.2;
  }
  if (edge.residual) {
    stroke.dash_on = std::max(1.2, stroke.width * 0.6);
    stroke.dash_off = std::max(1.6, stroke.width * 0.45);
  }
  return stroke;
}

void draw_edge_label(const GraphScene::EdgeCurve& curve, Canvas& canvas) {
  if (curve.label.empty()) return;
  const TextStyle style{7};
  const double w = canvas.width(curve.label, style);
  const Box plate{curve.label_at.x - w / 2 - 1.5, curve.label_at.y - 4.5, w + 3, 9};
  canvas.rect(plate, kPaper);
  canvas.text(curve.label_at.x, curve.label_at.y + 2.3, curve.label, style, kInk3, Align::centre);
}

void draw_scene_node(const GraphScene& scene, std::size_t i, Canvas& canvas, const SceneLinks& links) {
  Painter& painter = canvas.painter();
  const Box& box = scene.nodes[i].box;
  painter.anchor(node_anchor(links.prefix, i), {box.x, box.y - 8});
  painter.begin_link(i < links.targets.size() ? links.targets[i] : "");
  painter.begin_item(i == 0 ? "" : tooltip(scene, scene.graph.nodes[i]));
  if (i == 0) {
    draw_root(scene, canvas);
  } else {
    draw_node(scene, i, links.numbered, canvas);
  }
  painter.end_item();
  painter.end_link();
}

void draw_scene(const GraphScene& scene, Canvas& canvas, const SceneLinks& links) {
  // Light edges first: the heavy ones lie on top.
  for (std::size_t i = scene.edges.size(); i-- > 0;) draw_edge(scene, i, canvas);
  for (const GraphScene::EdgeCurve& edge : scene.edges) draw_edge_label(edge, canvas);
  for (std::size_t i = 0; i < scene.nodes.size(); ++i) draw_scene_node(scene, i, canvas, links);
}

void draw_legend(const GraphScene& scene, Canvas& canvas, double y) {
  const graph::GrowthGraph& graph = scene.graph;
  const auto change = [&scene](std::int64_t value) {
    return scene.words.growth ? scene.quantity.growth(value) : scene.quantity.value(value);
  };
  canvas.rule(kLeft, kRight, y);
  draw_fill_key(scene, canvas, kLeft, y);
  draw_width_key(scene, canvas, kLeft + 168, y);
  draw_border_key(scene, canvas, kLeft + 344, y);

  canvas.text_cut(kLeft + 344, y + 39,
                  concat("hidden: ", counted(graph.hidden_nodes, "node"), ", ", change(graph.hidden_flat.net())), {7},
                  kInk2, kWidth - 344);
  std::string sum = concat(counted(graph.nodes.size() - 1, "node"), " and ", counted(graph.edges.size(), "edge"), ". ");
  sum += concat("Drawn ", change(graph.drawn_flat.net()), " + hidden ", change(graph.hidden_flat.net()), " = total ",
                change(graph.total.net()), ".");
  if (graph.total.shrank != 0 && graph.total.grew != 0)
    sum += concat(" Grew ", change(graph.total.grew), ", shrank ", change(graph.total.shrank), ".");
  const bool loops = std::ranges::any_of(graph.nodes, [](const Node& n) { return n.recursive; });
  if (loops) sum += " \u21bb recursion folded.";
  canvas.text_cut(kLeft, y + 53, sum, {7}, kInk2, kWidth);
}

}  // namespace snapdiff::render
