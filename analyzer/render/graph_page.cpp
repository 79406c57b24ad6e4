#include <algorithm>
#include <cmath>

#include "analyzer/render/growth_table.hpp"
#include "analyzer/render/pages.hpp"

namespace snapdiff::render {
namespace {

/// The smallest text in a scene is 7 pt.
constexpr double kLeastScale = kSmallestText / 7.0;
constexpr std::size_t kPairRows = 12;
constexpr std::size_t kLeastPairRows = 5;
/// A table that shortens the graph below this gives up rows first.
constexpr double kWantedGraph = 300;

/// One line more where there are verdicts with reasons.
double suspect_row(const Story& story) { return story.verdicts.empty() ? 32 : 43; }

double suspects_height(const Story& story) {
  const std::size_t n = story.overall.suspects.size();
  return n == 0 ? 0 : 26 + suspect_row(story) * static_cast<double>(n);
}

/// "handle_request › leak_sessions › alloc_body", callers dropped from the left where too long.
std::string path_text(const GrowthReport& report, const Suspect& suspect, Canvas& canvas, const TextStyle& style,
                      double room) {
  std::vector<std::string> names = suspect_path(report, suspect);
  bool cut = false;
  for (;;) {
    std::string text = cut ? "\u2026" : "";
    for (const std::string& name : names) {
      if (!text.empty()) text += " \u203a ";
      text += name;
    }
    if (names.size() < 2 || canvas.width(text, style) <= room)
      return canvas.type().fit_middle(printable(text), style, room);
    names.erase(names.begin());
    cut = true;
  }
}

/// "alloc_body svc_cache.cc:24 +2.52 MiB, +11 000 objects; ..."
std::string sites_text(const Suspect& suspect, const GrowthReport& report) {
  const Quantity q = quantity_of(report.unit);
  constexpr std::size_t kSites = 3;
  std::string text;
  if (suspect.growth < 0) text = share_text(suspect.share).append(" of all shrinkage; ");
  for (std::size_t i = 0; i < suspect.sites.size() && i < kSites; ++i) {
    const Suspect::Site& site = suspect.sites[i];
    text.append(i == 0 ? "allocated in " : "; ").append(frame_name(site.frame));
    if (!site.frame.file.empty()) {
      text.append(" ").append(printable(base_name(site.frame.file)));
      if (site.frame.line > 0) text.append(":").append(std::to_string(site.frame.line));
    }
    text.append(" ").append(q.growth(site.growth));
    if (report.has_objects && q.bytes)
      text.append(", ")
          .append(count_growth_text(site.objects))
          .append(std::abs(site.objects) == 1 ? " object" : " objects");
  }
  if (suspect.sites.size() > kSites) text.append("; \u2026");
  return text;
}

std::string suspect_anchor(std::size_t suspect) {
  return page_prefix(kGraphPage).append("s").append(std::to_string(suspect));
}

void draw_suspects(const Story& story, PdfDocument& document, const FittedScene& fitted, double y) {
  const std::vector<Suspect>& suspects = story.overall.suspects;
  if (suspects.empty()) return;
  Canvas& canvas = document.canvas();
  const Quantity q = quantity_of(story.overall.unit);
  canvas.text(kLeft, y, "Suspects", {9, FontWeight::semibold}, kInk);
  canvas.text(
      kRight, y,
      "deepest frame that still carries 70\u2009% of its parent\u2019s growth, where it holds 20\u2009% of all growth",
      {7}, kInk3, Align::right);
  canvas.rule(kLeft, kRight, y + 6, kInk3, 0.7);
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    const Suspect& suspect = suspects[i];
    const double line = y + 20 + suspect_row(story) * static_cast<double>(i);
    Painter& painter = canvas.painter();
    painter.anchor(suspect_anchor(i), {kLeft, line - 14});
    std::string target;
    for (std::size_t n = 0; n < fitted.scene.graph.nodes.size(); ++n) {
      if (fitted.scene.graph.nodes[n].suspect == static_cast<int>(i)) target = node_anchor(page_prefix(kGraphPage), n);
    }
    painter.begin_link(target);
    const TextStyle name{8.8, FontWeight::semibold};
    canvas.text(kLeft, line, std::to_string(i + 1), {9, FontWeight::semibold}, kInk3);
    canvas.text(kLeft + 16, line, path_text(story.overall, suspect, canvas, name, 290), name, kInk);
    canvas.growth(kRight - 122, line, suspect.growth, q.growth(suspect.growth), name,
                  ramp_of(static_cast<double>(suspect.growth)).c700, Align::right);
    if (suspect.growth > 0) canvas.text(kRight - 82, line, share_text(suspect.share), {8.4}, kInk2, Align::right);
    const Story::Verdict* verdict = suspect_verdict(story, suspect);
    if (verdict != nullptr) canvas.badge(kRight, line, verdict->word, 6.4, Align::right);
    canvas.text_cut(kLeft + 16, line + 11.5, sites_text(suspect, story.overall), {7.6}, kInk2, kWidth - 16);
    if (verdict != nullptr) canvas.text_cut(kLeft + 16, line + 22, verdict->reason, {7.6}, kInk2, kWidth - 16);
    painter.end_link();
    canvas.rule(kLeft, kRight, line + suspect_row(story) - 14, kLine, 0.4);
  }
}

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
  const auto branches =
      std::count_if(graph.edges.begin(), graph.edges.end(), [node](const graph::Edge& e) { return e.from == node; });
  std::string text;
  if (node != 0) {
    text = share == 1 ? std::string("All ").append(what) : share_text(share).append(" of the ").append(what);
    text.append(" passes ")
        .append(printable(graph.nodes[node].name))
        .append(branches > 1 ? "; there it divides. " : ". ");
  }
  return text.append(
      "The bold column follows the heavier side at each frame. An edge means \u201callocated through\u201d: a heap "
      "profile has no "
      "references, so nothing here says what still holds the memory.");
}

}  // namespace

double graph_page_room(const Story& story) { return kLegendTop - suspects_height(story) - 30 - kGraphTop; }

std::string page_prefix(int page) { return std::string("p").append(std::to_string(page)).append("-"); }
std::string row_anchor(int page, std::size_t row) { return page_prefix(page).append("r").append(std::to_string(row)); }

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

void draw_graph_page(const Story& story, PdfDocument& document, const FittedScene& fitted,
                     const std::vector<std::size_t>& summary) {
  Canvas& canvas = document.canvas();
  const graph::GrowthGraph& graph = fitted.scene.graph;
  canvas.paragraph(kTop + 56, spine_sentence(graph), {8.6}, kInk2, 3);
  SceneLinks links{page_prefix(kGraphPage), std::vector<std::string>(graph.nodes.size()), true};
  for (const std::size_t row : summary) {
    if (row >= graph.row_node.size()) continue;
    std::string& target = links.targets[graph.row_node[row]];
    if (graph.row_node[row] != 0 && target.empty()) target = row_anchor(kSummaryPage, row);
  }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].suspect >= 0)
      links.targets[n] = suspect_anchor(static_cast<std::size_t>(graph.nodes[n].suspect));
  }
  const double top = kGraphTop;
  draw_scaled(fitted, canvas, top, links);
  const double below = kLegendTop - suspects_height(story);
  draw_suspects(story, document, fitted, std::min(top + fitted.scene.h * fitted.scale + 32, below + 6));
  draw_legend(fitted.scene, canvas, kLegendTop);
}

Status draw_pair_page(const Story& story, std::size_t pair, PdfDocument& document, const graph::GraphOptions& options,
                      std::size_t& nodes_hint) {
  const GrowthReport& report = story.pairs[pair];
  Canvas& canvas = document.canvas();
  const Quantity q = quantity_of(report.unit);
  double y = canvas.paragraph(kTop + 56, pair_sentence(report), {8.6}, kInk2, 2) + 23;

  const double grew = static_cast<double>(report.grew);
  const double shrank = -static_cast<double>(report.shrank);
  canvas.text(kLeft, y - 5, std::string("grew ").append(q.value(report.grew)), {7.4, FontWeight::semibold}, kGrow.c700);
  canvas.text(kRight, y - 5, std::string("shrank ").append(q.size(report.shrank)), {7.4, FontWeight::semibold},
              kShrink.c700, Align::right);
  const double both = grew + shrank;
  if (both > 0) {
    const double left = kWidth * grew / both;
    if (grew > 0) canvas.rect({kLeft, y, std::max(left - 1, 0.4), 9}, kGrow.c500);
    if (shrank > 0) {
      const Box gone{kLeft + left, y, std::max(kWidth - left, 0.4), 9};
      canvas.rect(gone, kShrink.c100);
      canvas.hatched(gone, kShrink.c500);
      canvas.frame(gone, {kShrink.c500, 0.6});
    }
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
  for (const std::size_t row : table.rows) {
    const std::uint32_t node = row < graph.row_node.size() ? graph.row_node[row] : 0;
    table.anchors.push_back(row_anchor(page, row));
    table.links.push_back(node == 0 ? "" : node_anchor(page_prefix(page), node));
    if (node != 0 && links.targets[node].empty()) links.targets[node] = row_anchor(page, row);
  }
  draw_scaled(*fitted, canvas, top, links);

  std::size_t changed = 0;
  for (const GrowthRow& row : report.rows) changed += row.grew != 0 || row.shrank != 0 ? 1 : 0;
  table.title =
      table.rows.size() == changed ? std::string("All rows of this step") : std::string("Largest changes of this step");
  table.remark = table.rows.size() == changed ? std::string("largest change first, by size and not by sign")
                                              : count_text(static_cast<std::int64_t>(table.rows.size()))
                                                    .append(" of ")
                                                    .append(count_text(static_cast<std::int64_t>(changed)))
                                                    .append(" changed rows; largest first, by size and not by sign");
  draw_table(
      table, canvas,
      std::min(top + fitted->scene.h * fitted->scale + 26, kLegendTop - 14 - table_height(table, table.rows.size())));
  draw_legend(fitted->scene, canvas, kLegendTop);
  return ok();
}

}  // namespace snapdiff::render
