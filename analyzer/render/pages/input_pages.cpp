#include <algorithm>

#include "analyzer/render/pages/postmortem_pages.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

constexpr std::size_t kRows = 60;
constexpr double kInputPagesRow = 10.6;
constexpr double kInputPagesHead = kTop + 74;
/// A series of thousands is listed by its ends; the JSON report has all.
constexpr std::size_t kMostPages = 4;

struct InputColumn {
  double x;
  Align align;
  const char* head;
};

void draw_head(Canvas& canvas, bool totals) {
  const InputColumn columns[] = {{kLeft + 16, Align::right, "#"},
                                 {kLeft + 22, Align::left, "name"},
                                 {kLeft + 150, Align::left, "SHA-256, first 16 digits"},
                                 {kLeft + 288, Align::right, "file"},
                                 {kLeft + 336, Align::right, totals ? "total" : ""},
                                 {kLeft + 346, Align::left, "format"},
                                 {kRight, Align::right, "taken at"}};
  for (const InputColumn& column : columns)
    canvas.text(column.x, kInputPagesHead, column.head, {7}, kInk2, column.align);
  canvas.rule(kLeft, kRight, kInputPagesHead + 5, kInk3, 0.7);
}

void draw_input(const Input& input, std::size_t number, const Quantity& q, Canvas& canvas, double y) {
  const TextStyle style{7};
  canvas.text(kLeft + 16, y, std::to_string(number), style, kInk3, Align::right);
  canvas.text_within(kLeft + 22, y, snapshot_name(input.snapshot), style, kInk, 124);
  if (input.total) canvas.text(kLeft + 336, y, q.value(*input.total), style, kInk, Align::right);
  if (input.snapshot.snapshot == nullptr) return;
  const SnapshotFacts& facts = input.snapshot.snapshot->facts;
  canvas.text(kLeft + 150, y, std::string_view(facts.source.sha256).substr(0, 16), {6.2, FontWeight::regular, true},
              kInk2);
  const std::uint64_t size = std::min<std::uint64_t>(facts.source.size_bytes, 1ULL << 62);
  canvas.text(kLeft + 288, y, size_text(static_cast<std::int64_t>(size)), style, kInk2, Align::right);
  const double right = facts.taken_at_ns
                           ? canvas.text(kRight, y, time_text(*facts.taken_at_ns), {6.4}, kInk2, Align::right)
                           : canvas.text(kRight, y, "n/a", {6.4}, kInk3, Align::right);
  std::string format = facts.format;
  if (!facts.format_detail.empty()) format.append(", ").append(facts.format_detail);
  if (facts.partial) format.insert(0, "partial; ");
  canvas.text_cut(kLeft + 346, y, format, {6.4}, kInk2, kRight - right - 6 - (kLeft + 346));
}

/// An input, or one that is missing between two.
struct Line {
  std::size_t input = 0;  ///< of inputs_of(); not used where `missing` is set
  const MissingInput* missing = nullptr;
};

std::vector<Line> lines_of(const Postmortem& report) {
  std::vector<Line> lines;
  auto gap = report.missing.begin();
  const std::size_t count = inputs_of(report).size();
  for (std::size_t i = 0; i <= count; ++i) {
    for (; gap != report.missing.end() && (gap->before <= i || i == count); ++gap) lines.push_back({i, &*gap});
    if (i < count) lines.push_back({i, nullptr});
  }
  return lines;
}

void draw_missing(const MissingInput& missing, Canvas& canvas, double y) {
  canvas.text(kLeft + 16, y, "\u00d7", {7}, kInk, Align::right);
  canvas.text_within(kLeft + 22, y, printable(missing.name), {7}, kInk, 124);
  canvas.text_cut(kLeft + 150, y, std::string("missing: ").append(printable(missing.why)), {6.4}, kInk2,
                  kRight - kLeft - 150);
}

}  // namespace

std::vector<Input> inputs_of(const Postmortem& report) {
  std::vector<Input> inputs;
  const bool totals = !report.growth().metric.empty();
  for (const SeriesStep& step : report.steps)
    inputs.push_back({step.snapshot, totals ? std::optional<std::int64_t>(step.total) : std::nullopt});
  if (inputs.empty() && report.counters) {
    for (const SnapshotRef& snapshot : report.counters->snapshots) inputs.push_back({snapshot, std::nullopt});
  }
  return inputs;
}

void plan_inputs(PostmortemPages& pages) {
  const std::size_t count = lines_of(pages.report).size();
  const std::size_t needed = (count + kRows - 1) / kRows;
  const std::size_t most = std::min(needed, kMostPages);
  pages.plan.add_each(most, "inputs", "Inputs", "Inputs, continued", "Which files, in which order?", "Inputs",
                      [&pages, most, needed](PdfDocument& document, std::size_t page) {
                        Canvas& canvas = document.canvas();
                        const std::vector<Input> inputs = inputs_of(pages.report);
                        const std::vector<Line> lines = lines_of(pages.report);
                        const Quantity q = quantity_of(pages.report.growth().unit);
                        std::string lead = printable(pages.report.order_note);
                        if (needed > most)
                          lead += concat("; the first ", (most - 1) * kRows, " and the last ", kRows,
                                         " are listed here, all of them in the JSON report");
                        canvas.paragraph(kLead, lead, {8.2}, kInk2, 1);
                        draw_head(canvas, !inputs.empty() && inputs.front().total.has_value());
                        // Of a series that is too long, the last page has its end.
                        const bool cut = needed > most && page + 1 == most;
                        const std::size_t first = cut ? lines.size() - kRows : page * kRows;
                        for (std::size_t i = first; i < lines.size() && i < first + kRows; ++i) {
                          const double y = kInputPagesHead + 16 + kInputPagesRow * static_cast<double>(i - first);
                          if (lines[i].missing != nullptr) {
                            draw_missing(*lines[i].missing, canvas, y);
                          } else {
                            draw_input(inputs[lines[i].input], lines[i].input + 1, q, canvas, y);
                          }
                        }
                      });
}

}  // namespace snapdiff::render
