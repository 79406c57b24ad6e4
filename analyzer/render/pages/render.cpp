#include "analyzer/render/render.hpp"

#include "analyzer/render/pages/pages.hpp"
#include "analyzer/render/paint/picture_page.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

Status check(const Story& story) {
  if (story.steps.size() < 2)
    return Error{ErrorCode::usage, concat("report of ", story.steps.size(), " snapshots: expected two or more")};
  if (!story.verdicts.empty() && story.verdicts.size() != story.overall.rows.size())
    return Error{ErrorCode::internal, concat("verdicts do not fit the rows: ", story.verdicts.size(), " verdicts, ",
                                             story.overall.rows.size(), " rows")};
  return ok();
}

std::string step_title(const Story& story, std::size_t pair) {
  const GrowthReport& report = story.pairs[pair];
  return concat("Snapshot ", pair + 1, " \u2192 ", pair + 2, ": ",
                quantity_of(report.unit).growth(report.total.growth()));
}

std::string step_foot(const Story& story, std::size_t pair) {
  return concat(footer_text(story.pairs[pair]), "  \u00b7  step ", pair + 1, " of ", story.pairs.size());
}

Result<std::string> write_pdf(const Story& story, const graph::GraphOptions& options, Typesetter& type, Paper paper) {
  Result<graph::GrowthModel> model = graph::GrowthModel::read(story.overall, options);
  if (!model) return std::move(model).error();
  Result<FittedScene> fitted = fit_scene(*model, type, options.max_nodes, kWidth, graph_page_room());
  if (!fitted) return std::move(fitted).error();

  const std::vector<std::size_t> rows = table_page_rows(story, type);
  PagePlan plan;
  plan.add({"", answer_title(story.overall), "What grew, where, and is it a leak?", "",
            [&](PdfDocument& document) { draw_answer(story, document.canvas(), ""); }});
  plan.add({"", "Where the growth came through", "Through which frames did all the growth come?", "",
            [&](PdfDocument& document) { draw_graph_page(document, *fitted, rows); }});
  plan.add({"", "Growth by stack", "Which stacks grew, which shrank?", "", [&](PdfDocument& document) {
              draw_table_page(story, document, rows, fitted->scene.graph.row_node,
                              static_cast<int>(plan.pages().size()));
            }});
  std::size_t nodes_hint = options.max_nodes;
  for (std::size_t pair = 0; pair < story.pairs.size(); ++pair) {
    plan.add({"", step_title(story, pair), "What changed in this step?", "Steps",
              [&, pair](PdfDocument& document) { return draw_pair_page(story, pair, document, options, nodes_hint); },
              step_foot(story, pair)});
  }
  if (story.full) plan_input_pages(story, plan);
  const std::string version = printable(story.version);
  const std::string foot = footer_text(story.overall).append("  \u00b7  ").append(version);
  return write_document(plan, {"snapdiff report: ", printable(story.title), foot, version, story.created_at_ns}, type,
                        paper);
}

}  // namespace

Result<std::string> to_pdf(const Story& story, const graph::GraphOptions& options, Paper paper) {
  if (Status status = check(story); !status) return std::move(status).error();
  return typeset("report as PDF", [&](Typesetter& type) { return write_pdf(story, options, type, paper); });
}

}  // namespace snapdiff::render
