#include <algorithm>
#include <cmath>

#include "analyzer/base/concat.hpp"
#include "analyzer/render/chart/story_facts.hpp"
#include "analyzer/render/graph/graph_layout.hpp"
#include "analyzer/render/pages/pages.hpp"
#include "analyzer/render/paint/picture_page.hpp"
#include "analyzer/render/render.hpp"

namespace snapdiff::render {
namespace {

constexpr double kMargin = 28;
constexpr double kPicturesHead = 62;
constexpr double kFoot = kLegendHeight + 34;

/// The graph with a headline above and its legend below.
struct Picture {
  GraphScene scene;
  PictureText text;
  double w = 0, h = 0;
};

Result<Picture> make_picture(graph::GrowthGraph graph, const PictureText& text, Typesetter& type) {
  Result<GraphScene> scene = make_scene(std::move(graph), type, Detail::full, kRankGap, text.words);
  if (!scene) return std::move(scene).error();
  Picture picture{std::move(*scene), text, 0, 0};
  picture.w = std::max(picture.scene.w, kWidth) + 2 * kMargin;
  picture.h = kPicturesHead + picture.scene.h + kFoot + kMargin + notes_height(text.notes, type);
  return picture;
}

PictureText text_of(const Story& story) {
  std::string foot = footer_text(story.overall).append("  \u00b7  ").append(printable(story.version));
  return {printable(story.title), answer_title(story.overall), std::move(foot), {}, note_texts(story.overall.notes)};
}

void draw_picture(const Picture& picture, Canvas& canvas) {
  const double w = picture.w - 2 * kMargin;
  canvas.text(kMargin, kMargin, "snapdiff", {8, FontWeight::bold}, kInk);
  canvas.text_within(kMargin + 44, kMargin, picture.text.program, {8}, kInk3, w - 50);
  canvas.text_within(kMargin, kMargin + 22, picture.text.title, {14, FontWeight::semibold}, kInk, w);
  canvas.painter().push({(picture.w - picture.scene.w) / 2, kPicturesHead}, 1);
  draw_scene(picture.scene, canvas, {});
  canvas.painter().pop();
  // Legend and footer are made for the pages' columns.
  canvas.painter().push({(picture.w - kWidth) / 2 - kLeft, 0}, 1);
  const double y = kPicturesHead + picture.scene.h + 18;
  draw_legend(picture.scene, canvas, y);
  canvas.rule(kLeft, kRight, y + kLegendHeight + 4);
  canvas.text_within(kLeft, y + kLegendHeight + 15, picture.text.foot, {6.8}, kInk3, kWidth);
  draw_notes(picture.text.notes, canvas, y + kLegendHeight + 17);
  canvas.painter().pop();
}

DotNode dot_node(const graph::GrowthGraph& graph, const graph::Node& node, bool root, double most, const Quantity& q,
                 bool growth) {
  const auto net = static_cast<double>(node.cumulative.net());
  DotNode out;
  out.label = printable(node.name);
  if (node.recursive) out.label += " \u21bb";
  out.label.append("\n").append(growth ? q.growth(node.cumulative.net()) : q.value(node.cumulative.net()));
  if (!root && mostly_grew(graph) && net > 0)
    out.label.append("  ").append(
        share_text(static_cast<double>(node.cumulative.grew) / static_cast<double>(graph.total.grew)));
  if (growth)
    out.label.append("\n").append(q.value(node.value.baseline)).append(" \u2192 ").append(q.value(node.value.current));
  if (!node.site.empty()) out.label.append("\n").append(printable(node.site));
  out.tooltip = printable(node.full_name);
  out.fill = color_text(root ? kPaper : tint(net, most));
  out.border = color_text(root ? kInk : node.spine ? ramp_of(net).c900 : ramp_of(net).c500);
  out.bold = node.spine;
  out.gone = node.gone;
  out.added = node.added;
  return out;
}

/// The growth graph as SVG or PNG.
Result<std::string> draw_growth(const Story& story, const graph::GraphOptions& options, PictureForm form) {
  return typeset(form == PictureForm::svg ? "graph as SVG" : "graph as PNG",
                 [&](Typesetter& type) -> Result<std::string> {
                   Result<graph::GrowthGraph> graph = graph::build_growth_graph(story.overall, options);
                   if (!graph) return std::move(graph).error();
                   return draw_graph(*std::move(graph), text_of(story), form, type);
                 });
}

Status check(const Story& story) {
  if (story.steps.size() < 2)
    return Error{ErrorCode::usage, concat("report of ", story.steps.size(), " snapshots: expected two or more")};
  if (!story.verdicts.empty() && story.verdicts.size() != story.overall.rows.size())
    return Error{ErrorCode::internal, concat("verdicts do not fit the rows: ", story.verdicts.size(), " verdicts, ",
                                             story.overall.rows.size(), " rows")};
  return ok();
}

Result<std::string> write_pdf(const Story& story, const graph::GraphOptions& options, Typesetter& type, Paper paper) {
  PagePlan plan;
  ComparisonPages pages{story, type, plan};
  plan_answer(pages, "What grew, where, and is it a leak?", "");
  if (Status status = plan_graph(pages, options); !status) return std::move(status).error();
  const std::string version = printable(story.version);
  const std::string foot = footer_text(story.overall).append("  \u00b7  ").append(version);
  return write_document(plan, {"snapdiff report: ", printable(story.title), foot, version, story.created_at_ns}, type,
                        paper);
}

}  // namespace

Result<std::string> draw_graph(graph::GrowthGraph graph, const PictureText& text, PictureForm form, Typesetter& type) {
  Result<Picture> picture = make_picture(std::move(graph), text, type);
  if (!picture) return std::move(picture).error();
  return write_picture(text.title, form, picture->w, type, [&](Canvas& canvas) {
    draw_picture(*picture, canvas);
    return picture->h;
  });
}

Result<std::string> graph_as_dot(const graph::GrowthGraph& graph, const PictureText& text) {
  const Quantity q = quantity_of(graph.unit);
  double most = 0;
  double most_edge = 0;
  for (const graph::Node& node : graph.nodes)
    most = std::max(most, std::fabs(static_cast<double>(node.cumulative.net())));
  for (const graph::Edge& edge : graph.edges)
    most_edge = std::max(most_edge, static_cast<double>(edge.weight.importance()));
  std::vector<DotNode> nodes;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    nodes.push_back(dot_node(graph, graph.nodes[i], i == 0, most, q, text.words.growth));
  std::vector<DotEdge> edges;
  for (const graph::Edge& edge : graph.edges) {
    const auto net = static_cast<double>(edge.weight.net());
    DotEdge out;
    out.from = edge.from;
    out.to = edge.to;
    out.width = 0.5 + 5.5 * std::sqrt(most_edge > 0 ? static_cast<double>(edge.weight.importance()) / most_edge : 0);
    out.color = color_text(edge.spine ? ramp_of(net).c500 : ramp_of(net).c300);
    out.residual = edge.residual;
    out.shrinks = net < 0;
    if (edge.residual) out.label = counted(edge.hidden_count, "frame") + " hidden";
    edges.push_back(std::move(out));
  }
  std::string title = text.title + "\n" + text.foot;
  for (const std::string& note : text.notes) title.append("\nnote: ").append(note);
  title += concat("\nhidden: ", count_text(graph.hidden_nodes), " nodes, ", q.growth(graph.hidden_flat.net()));
  title += concat("; drawn ", q.growth(graph.drawn_flat.net()), " + hidden = total ", q.growth(graph.total.net()));
  return write_dot(title, nodes, edges);
}

Result<std::string> to_svg(const Story& story, const graph::GraphOptions& options) {
  return draw_growth(story, options, PictureForm::svg);
}

Result<std::string> to_png(const Story& story, const graph::GraphOptions& options) {
  return draw_growth(story, options, PictureForm::png);
}

Result<std::string> to_dot(const Story& story, const graph::GraphOptions& options) {
  return within_memory("graph as DOT", [&]() -> Result<std::string> {
    const Result<graph::GrowthGraph> graph = graph::build_growth_graph(story.overall, options);
    if (!graph) return graph.error();
    PictureText text = text_of(story);
    text.foot = footer_text(story.overall);
    return graph_as_dot(*graph, text);
  });
}

Result<std::string> to_pdf(const Story& story, const graph::GraphOptions& options, Paper paper) {
  if (Status status = check(story); !status) return std::move(status).error();
  return typeset("report as PDF", [&](Typesetter& type) { return write_pdf(story, options, type, paper); });
}

}  // namespace snapdiff::render
