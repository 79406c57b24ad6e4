#include <algorithm>

#include "analyzer/base/concat.hpp"
#include "analyzer/render/pages/pages.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"

namespace snapdiff::render {
namespace {

constexpr std::size_t kTableRows = 14;
constexpr std::size_t kUnchangedRows = 7;
constexpr std::size_t kLeastRows = 5;  // fewer of more that changed are a page of their own
constexpr std::size_t kMostInputRows = 6;
constexpr double kInputRow = 10.5;

std::size_t input_columns(const Story& story) { return has_times(story) ? 2 : 3; }

std::size_t input_rows(const Story& story) {
  const std::size_t columns = input_columns(story);
  return (story.steps.size() + columns - 1) / columns;
}

/// Whether all inputs are listed.
bool inputs_fit(const Story& story) { return input_rows(story) <= kMostInputRows; }

double inputs_height(const Story& story) {
  const std::size_t rows = inputs_fit(story) ? input_rows(story) : 1;
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
  if (!inputs_fit(story)) {
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

/// A row of what was allocated and freed in between; -1: none.
std::ptrdiff_t passing_row(const GrowthReport& report) {
  const std::vector<Passing>& passing = told(report).passing;
  return passing.empty() || passing.front().rows.empty() ? -1
                                                         : static_cast<std::ptrdiff_t>(passing.front().rows.front());
}

}  // namespace

GrowthTable stack_table(const Story& story, double room) {
  const GrowthReport& report = story.overall;
  GrowthTable table;
  table.report = &report;
  table.verdicts = story.verdicts.empty() ? nullptr : &story.verdicts;
  table.remark = report.exact       ? "largest change first; \u00b10 because nothing was sampled"
                 : report.has_error ? "largest change first; \u00b1 is one standard deviation; ~ may be chance"
                                    : "largest change first; how far sampling may mislead is not known";
  std::size_t fits = kTableRows;
  while (fits > 0 && table_height(table, fits) > room) --fits;
  const auto changed = static_cast<std::size_t>(
      std::ranges::count_if(report.rows, [](const GrowthRow& row) { return row.grew != 0 || row.shrank != 0; }));
  if (fits >= std::min(kLeastRows, changed))
    table.rows = choose_rows(report, fits, std::min(fits, kUnchangedRows), passing_row(report));
  return table;
}

double below_graph(const Story& story, Typesetter& type) {
  return 20 + inputs_height(story) + notes_height(note_texts(story.overall.notes), type);
}

void draw_below_graph(const Story& story, Canvas& canvas) {
  draw_inputs(story, canvas, kBottom - below_graph(story, canvas.type()) + 20);
  const std::vector<std::string> notes = note_texts(story.overall.notes);
  draw_notes(notes, canvas, kBottom - notes_height(notes, canvas.type()));
}

}  // namespace snapdiff::render
