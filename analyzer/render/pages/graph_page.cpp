#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "analyzer/base/concat.hpp"
#include "analyzer/render/pages/pages.hpp"

namespace snapdiff::render {
namespace {

/// The smallest text in a scene is 7 pt.
constexpr double kLeastScale = kSmallestText / 7.0;
constexpr double kTableTop = kTop + 58;  // baseline of its title

/// "Every growing stack passes main; there it divides."
std::string spine_sentence(const graph::GrowthGraph& graph) {
  if (graph.edges.empty()) return "Nothing changed, so there is nothing to draw.";
  constexpr double kNearlyAll = 0.95;
  const auto all = static_cast<double>(graph.total.importance());
  std::uint32_t node = 0;
  double share = 1;
  for (bool on = true; on;) {
    on = false;
    for (const graph::Edge& edge : graph.edges) {
      const double passes = static_cast<double>(edge.weight.importance()) / all;
      if (edge.from != node || !edge.spine || passes < kNearlyAll) continue;
      node = edge.to;
      share = edge.weight == graph.total ? share : std::min(passes, 0.999);
      on = true;
      break;
    }
  }
  const std::string what = mostly_grew(graph) ? "growth" : "change";
  const auto branches = std::ranges::count_if(graph.edges, [node](const graph::Edge& e) { return e.from == node; });
  std::string text;
  if (node != 0) {
    text = share == 1 ? std::string("All ").append(what) : share_text(share).append(" of the ").append(what);
    text += concat(" passes ", printable(graph.nodes[node].name), branches > 1 ? "; there it divides. " : ". ");
  }
  return text.append(
      "Bold: heaviest path. An edge means \u201callocated through\u201d: a heap "
      "profile has no "
      "references, so nothing here says what still holds the memory.");
}

}  // namespace

std::string page_prefix(int page) { return concat("p", page, "-"); }
std::string row_anchor(int page, std::size_t row) { return page_prefix(page).append("r").append(std::to_string(row)); }

void link_nodes(SceneLinks& links, const graph::GrowthGraph& graph, const std::vector<std::size_t>& rows, int page) {
  for (const std::size_t row : rows) {
    const std::uint32_t node = node_of_row(graph.row_node, row);
    if (node != 0 && links.targets[node].empty()) links.targets[node] = row_anchor(page, row);
  }
}

void draw_scaled(const FittedScene& fitted, Canvas& canvas, double y, const SceneLinks& links) {
  const double w = fitted.scene.w * fitted.scale;
  canvas.painter().push({kLeft + (kWidth - w) / 2, y}, fitted.scale);
  draw_scene(fitted.scene, canvas, links);
  canvas.painter().pop();
}

Result<FittedScene> fit_scene(const graph::GrowthModel& model, Typesetter& type, std::size_t first_try, double w,
                              double h) {
  return fit_scene([&](std::size_t nodes) { return model.trim(nodes); }, type, first_try, w, h, {});
}

Result<FittedScene> fit_scene(const Trim& trim, Typesetter& type, std::size_t first_try, double w, double h,
                              const SceneWords& words) {
  std::size_t nodes = first_try;
  for (;;) {
    auto graph = trim(nodes);
    if (!graph) return std::move(graph).error();
    const bool smallest = graph->nodes.size() <= 2 || nodes == 0;
    double best = 0;
    for (const Detail detail : {Detail::full, Detail::mixed, Detail::compact}) {
      for (const double gap : {kRankGap, kTightRankGap}) {
        Result<GraphScene> scene = make_scene(*graph, type, detail, gap, words);
        if (!scene) return std::move(scene).error();
        const double across = w / std::max(scene->w, 1.0);
        const double down = h / std::max(scene->h, 1.0);
        const double scale = std::min(across, down);
        best = std::max(best, scale);
        const bool last = smallest && detail == Detail::compact && gap == kTightRankGap;
        if (scale >= kLeastScale || last) return FittedScene{std::move(*scene), std::min(scale, 1.0), nodes};
        // Closer rows gain a fifth of the height at most, and no width.
        if (!smallest && (across < kLeastScale || down < kLeastScale * 0.8)) break;
      }
    }
    const double shrink = std::clamp(best / kLeastScale, 0.5, 0.9);
    nodes = std::min(nodes - 1, static_cast<std::size_t>(std::floor(static_cast<double>(nodes) * shrink)));
  }
}

Status plan_graph(ComparisonPages& pages, const graph::GraphOptions& options) {
  const Story& story = pages.story;
  Result<graph::GrowthModel> model = graph::GrowthModel::read(story.overall, options);
  if (!model) return std::move(model).error();
  const double legend_top = kLegendTop - below_graph(story, pages.type);
  Result<FittedScene> fitted = fit_scene(*model, pages.type, options.max_nodes, kWidth, legend_top - 20 - kGraphTop);
  if (!fitted) return std::move(fitted).error();
  const auto scene = std::make_shared<const FittedScene>(*std::move(fitted));
  const bool has_table = !pages.table.rows.empty();
  if (!has_table) pages.table = stack_table(story, kBottom - 10 - kTableTop);
  pages.table.row_node = scene->scene.graph.row_node;
  pages.plan.add({"Where the growth came through", "Through which frames did all the growth come?", "",
                  [&pages, scene, legend_top](PdfDocument& document) {
                    Canvas& canvas = document.canvas();
                    const graph::GrowthGraph& graph = scene->scene.graph;
                    canvas.paragraph(kTop + 56, spine_sentence(graph), {8.6}, kInk2, 3);
                    SceneLinks links{page_prefix(kGraphPage), std::vector<std::string>(graph.nodes.size()), true};
                    link_nodes(links, graph, pages.table.rows, kTablePage);
                    draw_scaled(*scene, canvas, kGraphTop, links);
                    draw_legend(scene->scene, canvas, legend_top);
                    draw_below_graph(pages.story, canvas);
                  }});
  if (has_table) return ok();
  pages.plan.add({"Growth by stack", "Which stacks grew, which shrank?", "",
                  [&pages](PdfDocument& document) { draw_table(pages.table, document.canvas(), kTableTop); }});
  return ok();
}

}  // namespace snapdiff::render
