#include <algorithm>
#include <cmath>

#include "analyzer/base/concat.hpp"
#include "analyzer/render/pages/pages.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"

namespace snapdiff::render {
namespace {

constexpr std::size_t kTableRows = 14;
constexpr std::size_t kUnchangedRows = 7;
constexpr std::size_t kMostInputRows = 6;
constexpr double kInputRow = 10.5;
constexpr double kFiguresTop = kTop + 62;
constexpr double kTableTop = kFiguresTop + 50 + 24;  // baseline of its title

std::size_t input_columns(const Story& story) { return has_times(story) ? 2 : 3; }

std::size_t input_rows(const Story& story) {
  const std::size_t columns = input_columns(story);
  return (story.steps.size() + columns - 1) / columns;
}

/// Whether page 3 holds all inputs.
bool inputs_fit_table_page(const Story& story) { return input_rows(story) <= kMostInputRows; }

double inputs_height(const Story& story) {
  const std::size_t rows = inputs_fit_table_page(story) ? input_rows(story) : 1;
  return 14 + kInputRow * static_cast<double>(rows);
}

/// Number, name, hash, size of the file, total, time where the input holds one.
void draw_input(const Story& story, std::size_t i, Canvas& canvas, double x, double y, double w) {
  const SeriesStep& step = story.steps[i];
  const Quantity q = quantity_of(story.overall.unit);
  const TextStyle style{6.8};
  const double time_w = has_times(story) ? 84 : 0;
  const double right = x + w - 10 - time_w;
  canvas.text(x + 12, y, std::to_string(i + 1), style, kInk3, Align::right);
  const double hash_x = right - 95;
  canvas.text_within(x + 16, y, snapshot_name(step.snapshot), style, kInk2, hash_x - x - 17);
  canvas.text(hash_x, y, short_hash(step.snapshot), {6.4, FontWeight::regular, true}, kInk3);
  if (step.snapshot.snapshot != nullptr) {
    const std::uint64_t size = std::min<std::uint64_t>(step.snapshot.snapshot->facts.source.size_bytes, 1ULL << 62);
    canvas.text(right - 33, y, size_text(static_cast<std::int64_t>(size)), {6.4}, kInk3, Align::right);
  }
  canvas.text(right, y, q.value(step.total), style, kInk, Align::right);
  if (time_w > 0 && step.snapshot.snapshot != nullptr && step.snapshot.snapshot->facts.taken_at_ns)
    canvas.text(right + 8, y, time_text(*step.snapshot.snapshot->facts.taken_at_ns), {6.4}, kInk2);
}

void draw_inputs(const Story& story, Canvas& canvas, double y) {
  canvas.text(kLeft, y, "Inputs", {8, FontWeight::semibold}, kInk);
  if (!inputs_fit_table_page(story)) {
    canvas.text_within(
        kLeft, y + 12,
        concat(count_text(story.steps.size()), " snapshots, from ", snapshot_name(story.steps.front().snapshot), " to ",
               snapshot_name(story.steps.back().snapshot), "; the HTML page lists all"),
        {7}, kInk2, kWidth);
    return;
  }
  canvas.text(kLeft + 34, y, "name, first 8 digits of the SHA-256, file size, total", {6.8}, kInk3);
  const std::size_t rows = input_rows(story);
  const double w = kWidth / static_cast<double>(input_columns(story));
  for (std::size_t i = 0; i < story.steps.size(); ++i) {
    const std::size_t column = i / rows;
    const double x = kLeft - 4 + w * static_cast<double>(column);
    draw_input(story, i, canvas, x, y + 12 + kInputRow * static_cast<double>(i % rows), w + 4);
  }
}

/// The table by stack of the rows `rows`; their links lead to nodes of the graph.
GrowthTable stack_table(const Story& story, const std::vector<std::size_t>& rows,
                        const std::vector<std::uint32_t>& graph_rows) {
  GrowthTable table;
  table.report = &story.overall;
  table.verdicts = story.verdicts.empty() ? nullptr : &story.verdicts;
  table.title = "Growth per stack, first \u2192 last";
  table.remark = story.overall.exact       ? "largest change first; \u00b10 because nothing was sampled"
                 : story.overall.has_error ? "largest change first; \u00b1 is one standard deviation; ~ may be chance"
                                           : "largest change first; how far sampling may mislead is not known";
  table.before = "first";
  table.after = "last";
  table.two_lines = true;
  table.rows = rows;
  for (const std::size_t row : rows) {
    table.anchors.push_back(row_anchor(kTablePage, row));
    const std::uint32_t node = node_of_row(graph_rows, row);
    table.links.push_back(node == 0 ? std::string() : node_anchor(page_prefix(kGraphPage), node));
  }
  return table;
}

/// A row of what was allocated and freed in between; -1: none.
std::ptrdiff_t passing_row(const GrowthReport& report) {
  const std::vector<Passing>& passing = told(report).passing;
  return passing.empty() || passing.front().rows.empty() ? -1
                                                         : static_cast<std::ptrdiff_t>(passing.front().rows.front());
}

}  // namespace

std::vector<KeyFigure> key_figures(const Story& story) {
  const GrowthReport& report = story.overall;
  const Quantity q = quantity_of(report.unit);
  const std::int64_t growth = report.total.growth();
  const std::size_t n = story.steps.size();
  std::vector<KeyFigure> out;
  out.push_back({"growth, first \u2192 last", q.growth(growth),
                 q.value(report.total.baseline).append(" \u2192 ").append(q.value(report.total.current)),
                 growth_color(growth, kInk)});
  if (n > 2) {
    const std::int64_t steps = static_cast<std::int64_t>(n) - 1;
    std::size_t largest = 1;
    for (std::size_t i = 1; i < n; ++i) {
      const auto size = [&](std::size_t s) { return std::fabs(static_cast<double>(story.steps[s].growth)); };
      if (size(i) > size(largest)) largest = i;
    }
    out.push_back({"mean growth per snapshot", q.growth(growth / steps),
                   concat("largest step ", q.growth(story.steps[largest].growth), " at ", largest + 1), kInk});
  } else {
    out.push_back(
        {"grew and shrank", q.growth(report.grew), std::string("and ").append(q.growth(report.shrank)), kInk});
  }
  if (report.has_objects) {
    out.push_back(
        {"objects", count_growth_text(report.total_objects.growth()),
         count_text(report.total_objects.baseline).append(" \u2192 ").append(count_text(report.total_objects.current)),
         kInk});
  } else {
    std::size_t changed = 0;
    for (const GrowthRow& row : report.rows) changed += row.grew != 0 || row.shrank != 0 ? 1 : 0;
    out.push_back(
        {"stacks that changed", count_text(changed), std::string("of ").append(count_text(report.rows.size())), kInk});
  }
  std::string sampling = report.exact       ? "of bytes; exact, no sampling"
                         : report.has_error ? "of bytes; sampled"
                                            : "of bytes";
  if (!report.exact && report.has_error && std::isfinite(report.total_error) && report.total_error < 9e18)
    sampling.append(", \u00b1 ").append(q.value(std::llround(report.total_error)));
  const bool any = report.total.baseline != 0 || report.total.current != 0;
  out.push_back({"matched", any ? share_text(matched_share(report)) : std::string("n/a"), sampling, kInk});
  return out;
}

double draw_figures(const std::vector<KeyFigure>& figures, Canvas& canvas, double y) {
  const double w = kWidth / static_cast<double>(figures.size());
  canvas.rule(kLeft, kRight, y - 4);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const double left = kLeft + w * static_cast<double>(i);
    const double x = i == 0 ? left : left + 10;
    if (i > 0) canvas.painter().stroke(Path().move({left, y + 4}).line({left, y + 44}), {kLine, 0.6});
    canvas.text_cut(x, y + 11, figures[i].name, {7.2}, kInk2, w - 14);
    canvas.text_cut(x, y + 29, figures[i].value, {15, FontWeight::semibold}, figures[i].color, w - 14);
    canvas.text_cut(x, y + 42, figures[i].detail, {6.9}, kInk2, w - 14);
  }
  canvas.rule(kLeft, kRight, y + 50);
  return y + 50;
}

std::vector<std::size_t> table_page_rows(const Story& story, Typesetter& type) {
  GrowthTable table;
  table.report = &story.overall;
  table.two_lines = true;
  const double room =
      kBottom - 8 - inputs_height(story) - notes_height(note_texts(story.overall.notes), type) - 14 - kTableTop;
  std::size_t fits = kTableRows;
  while (fits > 1 && table_height(table, fits) > room) --fits;
  return choose_rows(story.overall, fits, std::min(fits, kUnchangedRows), passing_row(story.overall));
}

void draw_table_page(const Story& story, PdfDocument& document, const std::vector<std::size_t>& rows,
                     const std::vector<std::uint32_t>& graph_rows) {
  Canvas& canvas = document.canvas();
  draw_figures(key_figures(story), canvas, kFiguresTop);

  const double y = draw_table(stack_table(story, rows, graph_rows), canvas, kTableTop);
  draw_inputs(story, canvas, y + 20);
  const std::vector<std::string> notes = note_texts(story.overall.notes);
  draw_notes(notes, canvas, kBottom - notes_height(notes, canvas.type()));
}

}  // namespace snapdiff::render
