#include "analyzer/render/render.hpp"

#include <new>

#include "analyzer/render/answer_page.hpp"
#include "analyzer/render/pages.hpp"

namespace snapdiff::render {
namespace {

Status check(const Story& story) {
  if (story.steps.size() < 2)
    return Error{ErrorCode::usage, std::string("report of ")
                                       .append(std::to_string(story.steps.size()))
                                       .append(" snapshots: expected two or more")};
  if (!story.verdicts.empty() && story.verdicts.size() != story.overall.rows.size())
    return Error{ErrorCode::internal, std::string("verdicts do not fit the rows: ")
                                          .append(std::to_string(story.verdicts.size()))
                                          .append(" verdicts, ")
                                          .append(std::to_string(story.overall.rows.size()))
                                          .append(" rows")};
  return ok();
}

std::string number(std::size_t n) { return std::to_string(n); }

Result<std::string> write_pdf(const Story& story, const graph::GraphOptions& options, Paper paper) {
  Result<std::unique_ptr<Typesetter>> made = Typesetter::make();
  if (!made) return std::move(made).error();
  Typesetter& type = **made;

  Result<graph::GrowthModel> model = graph::GrowthModel::read(story.overall, options);
  if (!model) return std::move(model).error();
  Result<FittedScene> fitted = fit_scene(*model, type, options.max_nodes, kWidth, graph_page_room());
  if (!fitted) return std::move(fitted).error();

  const int pages = 3 + static_cast<int>(story.pairs.size()) + (story.full ? input_pages(story) : 0);
  const std::string program = printable(story.title);
  const std::string version = std::string("  \u00b7  ").append(printable(story.version));
  const std::string foot = footer_text(story.overall).append(version);
  const std::string fonts = std::string("fonts: ").append(type.sans()).append(", ").append(type.mono());
  PdfDocument document(
      type, paper,
      {std::string("snapdiff report: ").append(program), printable(story.version), fonts, story.created_at_ns}, pages);

  const std::vector<std::size_t> rows = table_page_rows(story, document);
  const std::string title = answer_title(story.overall);
  document.begin_page({program, title, "What grew, where, and is it a leak?", foot});
  document.bookmark(0, title, "p1");
  draw_answer(story, document.canvas(), "");
  document.end_page();

  document.begin_page(
      {program, "Where the growth came through", "Through which frames did all the growth come?", foot});
  document.bookmark(0, "Where the growth came through", "p2");
  draw_graph_page(document, *fitted, rows);
  document.end_page();

  document.begin_page({program, "Growth by stack", "Which stacks grew, which shrank?", foot});
  document.bookmark(0, "Growth by stack", "p3");
  draw_table_page(story, document, rows, fitted->scene.graph.row_node, pages);
  document.end_page();

  std::size_t nodes_hint = options.max_nodes;
  int steps_mark = 0;
  for (std::size_t pair = 0; pair < story.pairs.size(); ++pair) {
    const GrowthReport& report = story.pairs[pair];
    std::string step = std::string("Snapshot ").append(number(pair + 1)).append(" \u2192 ").append(number(pair + 2));
    step.append(": ").append(quantity_of(report.unit).growth(report.total.growth()));
    const std::string step_foot = footer_text(report)
                                      .append("  \u00b7  step ")
                                      .append(number(pair + 1))
                                      .append(" of ")
                                      .append(number(story.pairs.size()));
    document.begin_page({program, step, "What changed in this step?", step_foot});
    const std::string here = std::string("p").append(number(static_cast<std::size_t>(document.page())));
    if (pair == 0) steps_mark = document.bookmark(0, "Steps", here);
    document.bookmark(steps_mark, step, here);
    if (Status status = draw_pair_page(story, pair, document, options, nodes_hint); !status)
      return std::move(status).error();
    document.end_page();
  }
  if (story.full) draw_input_pages(story, document);
  return document.finish();
}

}  // namespace

Result<std::string> to_pdf(const Story& story, const graph::GraphOptions& options, Paper paper) {
  if (Status status = check(story); !status) return std::move(status).error();
  try {
    return write_pdf(story, options, paper);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::limit, "report as PDF: out of memory"};
  }
}

}  // namespace snapdiff::render
