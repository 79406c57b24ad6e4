#include <algorithm>

#include "analyzer/base/concat.hpp"
#include "analyzer/document/answer_parts.hpp"
#include "analyzer/render/memory/memory_pages.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"
#include "analyzer/render/paint/canvas.hpp"

namespace snapdiff::render {
namespace {

constexpr std::size_t kMostCounterPages = 2;
constexpr std::size_t kCountersPerPage = 7;
constexpr double kDevicePagesContent = kTop + 57;
constexpr double kFactText = kLeft + 76;

void draw_failure(const PostmortemPages& pages, Canvas& canvas) {
  const OutOfMemory& failure = *pages.report.failure;
  double y = kTop + 58;
  std::string sentence = concat("An allocation of ", size_text(failure.asked), " failed: ");
  sentence.append(failure.sentence.empty() ? std::string(to_text(failure.reason)) : failure.sentence).append(".");
  constexpr TextStyle kSentence{10.5};
  y = draw_prose(wrap_prose({{std::move(sentence)}}, canvas.type(), kSentence, kWidth, 5), canvas, kLeft, y, kSentence,
                 kInk);
  canvas.text_cut(kLeft, y + 16, document::failure_line(failure, kGlyphs), {8}, kInk2, kWidth);
  y += 38;
  draw_section(canvas, y, "Memory just before", std::string("reason: ").append(to_text(failure.reason)));
  y += 18;
  for (const document::Fact& fact : document::failure_facts(failure, kGlyphs)) {
    if (fact.text == failure.sentence) continue;  // is above
    const TextStyle bold{8.2, FontWeight::semibold};
    canvas.text(kLeft, y, fact.label, {8.2}, kInk);
    const double end = kFactText + canvas.text_within(kFactText, y, fact.text, bold, kInk, kRight - kFactText);
    if (!fact.meaning.empty()) canvas.text_cut(end + 10, y, std::string(fact.meaning), {7.4}, kInk2, kRight - end - 10);
    canvas.rule(kLeft, kRight, y + 4.6, kLine, 0.3);
    y += 14.2;
  }
  if (pages.report.pins) draw_pins_table(*pages.report.pins, canvas, y + 18, kBottom - 6);
}

}  // namespace

void plan_failure(PostmortemPages& pages) {
  pages.plan.add({"Why the allocation failed", "What was full, and what held it?", "",
                  [&pages](PdfDocument& document) { draw_failure(pages, document.canvas()); }});
}

void plan_counters(PostmortemPages& pages) {
  if (!pages.report.counters || pages.report.counters->rows.empty()) return;
  const CounterReport& counters = *pages.report.counters;
  const std::size_t rows = counters.rows.size();
  const std::size_t needed = (rows + kCountersPerPage - 1) / kCountersPerPage;
  const std::size_t count = std::min(needed, kMostCounterPages);
  pages.plan.add_each(
      count, "Numbers of the whole process", "Numbers of the process, continued", "Which counters grow?", "Counters",
      [&counters, count, rows](PdfDocument& document, std::size_t part) {
        const std::size_t first = part * kCountersPerPage;
        const std::size_t end_row = std::min(first + kCountersPerPage, rows);
        CountersPage page;
        page.counters.snapshots = counters.snapshots;
        page.counters.axis = counters.axis;
        page.counters.rows.assign(counters.rows.begin() + static_cast<std::ptrdiff_t>(first),
                                  counters.rows.begin() + static_cast<std::ptrdiff_t>(end_row));
        const double end = draw_page(page, document.canvas(), kDevicePagesContent, kBottom - 16);
        if (part + 1 == count && rows > end_row)
          document.canvas().text(kLeft, std::min(end + 10, kBottom - 4),
                                 counted(rows - end_row, "more counter").append(" in the JSON report"), {7}, kInk2);
      });
}

}  // namespace snapdiff::render
