#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "analyzer/flame/flame_tree.hpp"
#include "analyzer/render/flame/flame_boxes.hpp"
#include "analyzer/render/graph/graph_tiles.hpp"
#include "analyzer/render/pages/pages.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

/// The smallest text in a scene is 7 pt.
constexpr double kLeastScale = kSmallestText / 7.0;
constexpr std::size_t kPairRows = 12;
constexpr std::size_t kLeastPairRows = 5;
/// A table that shortens the graph below this gives up rows first.
constexpr double kWantedGraph = 300;

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
      "The bold column follows the heavier side at each frame. An edge means \u201callocated through\u201d: a heap "
      "profile has no "
      "references, so nothing here says what still holds the memory.");
}

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

double graph_page_room() { return kLegendTop - 30 - kGraphTop; }

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

void draw_graph_page(PdfDocument& document, const FittedScene& fitted, const std::vector<std::size_t>& summary) {
  Canvas& canvas = document.canvas();
  const graph::GrowthGraph& graph = fitted.scene.graph;
  canvas.paragraph(kTop + 56, spine_sentence(graph), {8.6}, kInk2, 3);
  SceneLinks links{page_prefix(kGraphPage), std::vector<std::string>(graph.nodes.size()), true};
  link_nodes(links, graph, summary, kTablePage);
  draw_scaled(fitted, canvas, kGraphTop, links);
  draw_legend(fitted.scene, canvas, kLegendTop);
}

Status draw_pair_page(const Story& story, std::size_t pair, PdfDocument& document, const graph::GraphOptions& options,
                      std::size_t& nodes_hint) {
  const GrowthReport& report = story.pairs[pair];
  Canvas& canvas = document.canvas();
  const Quantity q = quantity_of(report.unit);
  double y = canvas.paragraph(kTop + 56, culprits_sentence(report), {8.6}, kInk2, 2) + 23;

  const double grew = static_cast<double>(report.grew);
  const double shrank = -static_cast<double>(report.shrank);
  canvas.text(kLeft, y - 5, std::string("grew ").append(q.value(report.grew)), {7.4, FontWeight::semibold}, kGrow.c700);
  canvas.text(kRight, y - 5, std::string("shrank ").append(q.size(report.shrank)), {7.4, FontWeight::semibold},
              kShrink.c700, Align::right);
  const double both = grew + shrank;
  if (both > 0) {
    const double left = kWidth * grew / both;
    if (grew > 0) canvas.rect({kLeft, y, std::max(left - 1, 0.4), 9}, kGrow.c500);
    if (shrank > 0) canvas.gone({kLeft + left, y, std::max(kWidth - left, 0.4), 9});
  } else {
    canvas.frame({kLeft, y, kWidth, 9}, {kLine, 0.6});
  }
  const double top = y + 20;

  GrowthTable table;
  table.report = &report;
  table.rows = choose_rows(report, kPairRows, 0, -1);
  const double room = kLegendTop - 18 - top;
  const auto graph_room = [&](std::size_t rows) { return room - table_height(table, rows) - 22; };
  while (table.rows.size() > kLeastPairRows && graph_room(table.rows.size()) < kWantedGraph) table.rows.pop_back();

  Result<graph::GrowthModel> model = graph::GrowthModel::read(report, options);
  if (!model) return std::move(model).error();
  Result<FittedScene> fitted = fit_scene(*model, canvas.type(), nodes_hint, kWidth, graph_room(table.rows.size()));
  if (!fitted) return std::move(fitted).error();
  // The next step is much like this one: begin there with a little more than fitted here.
  nodes_hint = std::min(options.max_nodes, fitted->max_nodes + fitted->max_nodes / 4 + 2);

  const int page = document.page();
  const graph::GrowthGraph& graph = fitted->scene.graph;
  SceneLinks links{page_prefix(page), std::vector<std::string>(graph.nodes.size()), false};
  link_nodes(links, graph, table.rows, page);
  for (const std::size_t row : table.rows) {
    const std::uint32_t node = node_of_row(graph.row_node, row);
    table.anchors.push_back(row_anchor(page, row));
    table.links.push_back(node == 0 ? "" : node_anchor(page_prefix(page), node));
  }
  draw_scaled(*fitted, canvas, top, links);

  std::size_t changed = 0;
  for (const GrowthRow& row : report.rows) changed += row.grew != 0 || row.shrank != 0 ? 1 : 0;
  const bool all = table.rows.size() == changed;
  table.title = all ? "All rows of this step" : "Largest changes of this step";
  table.remark = all ? "largest change first, by size and not by sign"
                     : concat(count_text(table.rows.size()), " of ", count_text(changed),
                              " changed rows; largest first, by size and not by sign");
  draw_table(
      table, canvas,
      std::min(top + fitted->scene.h * fitted->scale + 26, kLegendTop - 14 - table_height(table, table.rows.size())));
  draw_legend(fitted->scene, canvas, kLegendTop);
  return ok();
}

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
