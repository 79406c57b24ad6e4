#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "analyzer/flame/flame_tree.hpp"
#include "analyzer/render/flame/flame_page.hpp"
#include "analyzer/render/graph/graph_tiles.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

constexpr std::size_t kMostTiles = 6;
constexpr double kTileTop = kTop + 100;
constexpr double kTileHeight = kLegendTop - 10 - kTileTop;
constexpr Box kMap = {kRight - 128, kTop + 13, 128, 80};
constexpr double kScales[] = {1.0, 0.92, kSmallestText / 7.0};

std::string tile_key(std::size_t tile) { return std::string("tile ").append(std::to_string(tile)); }

/// The largest graph of at most `options.max_nodes` nodes whose tiles are not too many.
Result<TiledScene> make_tiles(const graph::GrowthModel& model, PostmortemPages& pages) {
  for (std::size_t nodes = pages.options.max_nodes;; nodes = nodes * 4 / 5) {
    Result<graph::GrowthGraph> graph = model.trim(nodes);
    if (!graph) return std::move(graph).error();
    Result<GraphScene> scene = make_scene(*std::move(graph), pages.type, Detail::full, kRankGap);
    if (!scene) return std::move(scene).error();
    double best = kScales[0];
    std::size_t fewest = count_tiles(*scene, best, kWidth, kTileHeight);
    for (const double scale : kScales) {
      const std::size_t count = count_tiles(*scene, scale, kWidth, kTileHeight);
      if (count >= fewest) continue;
      fewest = count;
      best = scale;
    }
    if (fewest <= kMostTiles || nodes < 4) return cut_into_tiles(*std::move(scene), best, kWidth, kTileHeight);
  }
}

/// "alloc_body, make_log_line and 7 more nodes": what is on a tile.
std::string content_of(const TiledScene& tiled, std::size_t index) {
  const std::vector<std::uint32_t>& nodes = tiled.tiles[index].nodes;
  std::string text;
  std::size_t named = 0;
  // Nodes come heaviest first; the root says nothing about a tile.
  for (const std::uint32_t node : nodes) {
    if (node == 0 || named == 3) continue;
    text.append(named == 0 ? "" : ", ").append(shortened(printable(tiled.scene.graph.nodes[node].name), 28));
    ++named;
  }
  const std::size_t rest = nodes.size() - named - (nodes.front() == 0 ? 1 : 0);
  if (rest > 0) text.append(" and ").append(counted(rest, "more node"));
  return text;
}

void draw_tile_page(const PostmortemPages& pages, const TiledScene& tiled, std::size_t index, PdfDocument& document) {
  Canvas& canvas = document.canvas();
  std::vector<std::string> anchors;
  for (std::size_t t = 0; t < tiled.tiles.size(); ++t) anchors.push_back(pages.plan.anchor_of(tile_key(t)));
  const double w = kMap.x - kLeft - 16;
  double y = kLead;
  const std::string text =
      concat("On this tile: ", content_of(tiled, index),
             ". Dashed boxes are whole on the tile they name; dotted lines show where a neighbouring tile overlaps.");
  for (const std::string& line : canvas.type().wrap(unbroken(printable(text)), {8}, w, 3)) {
    canvas.text(kLeft, y, line, {8}, kInk2);
    y += 11.6;
  }
  draw_tile_map(tiled, index, canvas, kMap, anchors);
  SceneLinks links{std::string(kTilePrefix), std::vector<std::string>(tiled.scene.graph.nodes.size()), true};
  for (std::size_t n = 0; n < links.targets.size(); ++n) {
    const int suspect = tiled.scene.graph.nodes[n].suspect;
    if (suspect >= 0) links.targets[n] = pages.plan.anchor_of(suspect_key(static_cast<std::size_t>(suspect) + 1));
  }
  link_nodes(links, tiled.scene.graph, pages.table_rows, kTablePage);
  draw_tile(tiled, index, canvas, {kLeft, kTileTop}, anchors, links);
  draw_legend(tiled.scene, canvas, kLegendTop);
}

void plan_tiles(PostmortemPages& pages, const std::shared_ptr<const TiledScene>& tiled) {
  pages.tile_node = tiled->scene.graph.row_node;
  for (std::size_t t = 0; t < tiled->tiles.size(); ++t) {
    const std::string title = concat("The graph, tile ", t + 1, " of ", tiled->tiles.size());
    pages.plan.add({tile_key(t), title, "Where exactly?", "Graph",
                    [&pages, tiled, t](PdfDocument& document) { draw_tile_page(pages, *tiled, t, document); }});
  }
}

}  // namespace

Status plan_graph(PostmortemPages& pages) {
  Result<graph::GrowthModel> model = graph::GrowthModel::read(pages.story.overall, pages.options);
  if (!model) return std::move(model).error();
  Result<FittedScene> fitted = fit_scene(*model, pages.type, pages.options.max_nodes, kWidth, graph_page_room());
  if (!fitted) return std::move(fitted).error();
  pages.row_node = fitted->scene.graph.row_node;

  // Nothing is cut where the page holds all that may be drawn.
  Result<graph::GrowthGraph> whole = model->trim(pages.options.max_nodes);
  if (!whole) return std::move(whole).error();
  const bool tiles = pages.full && whole->nodes.size() > fitted->scene.graph.nodes.size();
  const auto scene = std::make_shared<const FittedScene>(*std::move(fitted));
  pages.plan.add({"graph", "Where the growth came through", "Through which frames did all the growth come?",
                  tiles ? "Graph" : "",
                  [&pages, scene](PdfDocument& document) { draw_graph_page(document, *scene, pages.table_rows); }});
  if (!tiles) return ok();
  Result<TiledScene> tiled = make_tiles(*model, pages);
  if (!tiled) return std::move(tiled).error();
  if (tiled->tiles.size() > 1 || tiled->scene.nodes.size() > scene->scene.nodes.size())
    plan_tiles(pages, std::make_shared<const TiledScene>(*std::move(tiled)));
  return ok();
}

Status plan_flame(PostmortemPages& pages) {
  const GrowthReport& report = pages.report.growth();
  if (report.grew == 0 && report.shrank == 0) return ok();
  Result<FlameTree> tree = flame::flame_tree(report, FlameWidth::change);
  if (!tree) return std::move(tree).error();
  auto story = std::make_shared<FlameStory>(tell_flame(*std::move(tree), report));
  story->title = pages.report.title;
  story->version = pages.report.version;
  story->order_note = pages.report.order_note;
  const PageFrame frame = flame_frame(*story);
  pages.plan.add({"flame", frame.title, frame.question, "", [story](PdfDocument& document) {
                    draw_flame_content(*story, document.canvas(), kTop + 57, kBottom - 4, "flame-");
                  }});
  return ok();
}

}  // namespace snapdiff::render
