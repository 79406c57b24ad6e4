#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/render/graph/graph_scene.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

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
  const TextStyle name{node.spine || node.suspect >= 0 ? (full ? 10.0 : 8.6) : (full ? 9.0 : 8.0),
                       FontWeight::semibold};
  const double w = canvas.text(x, y, shown.name, name, kInk);
  if (shown.loop) canvas.text(x + w + 4, y, "\u21bb", {name.size, FontWeight::semibold}, kInk2);
  if (numbered && node.suspect >= 0) {
    const Point centre{shown.box.x + shown.box.w - 11, y - name.size * 0.36};
    canvas.painter().fill(Path::circle(centre, 5.4), kInk);
    canvas.text(centre.x, centre.y + 2.4, std::to_string(node.suspect + 1), {6.8, FontWeight::semibold}, kPaper,
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
