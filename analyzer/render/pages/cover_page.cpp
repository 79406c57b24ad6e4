#include <algorithm>
#include <set>

#include "analyzer/base/concat.hpp"
#include "analyzer/render/memory/memory_pages.hpp"
#include "analyzer/render/pages/pages.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"
#include "analyzer/render/paint/canvas.hpp"

namespace snapdiff::render {
namespace {

constexpr double kCounterHeight = 190;
constexpr TextStyle kShort{10};
constexpr std::size_t kShortLines = 3;

std::string title_of(const Postmortem& report) {
  std::string text = plain_text(report.narrative.headline);
  return text.empty() ? "Post-mortem" : text;
}

/// The counter that the headline is about, over time.
void draw_leading_counter(const Postmortem& report, Canvas& canvas, double y) {
  if (!report.counters) return;
  const std::vector<CounterRow>& rows = report.counters->rows;
  const auto leading =
      std::ranges::find_if(rows, [](const CounterRow& row) { return !row.cumulative && row.known() > 0; });
  if (leading == rows.end()) return;
  CountersPage page;
  page.counters.snapshots = report.counters->snapshots;
  page.counters.axis = report.counters->axis;
  page.counters.rows = {*leading};
  draw_page(page, canvas, y, y + kCounterHeight);
}

/// Counters alone have no story by stacks: a few lines of the narrative instead.
void draw_counters_answer(const Postmortem& report, const std::string& remark, Canvas& canvas) {
  canvas.badge(kRight, kTop + 34, report.narrative.verdict, 9.5, Align::right);
  double y = kTop + 58;
  if (!remark.empty()) {
    canvas.text_cut(kLeft, y, remark, {8.4, FontWeight::semibold}, kInk, kWidth);
    y += 17;
  }
  const std::string title = title_of(report);
  for (const Prose& prose : report.narrative.in_short) {
    const std::string text = plain_text(prose);
    if (text == title || text == title + ".") continue;
    y = draw_prose(wrap_prose(prose, canvas.type(), kShort, kWidth, kShortLines), canvas, kLeft, y, kShort, kInk) + 18;
  }
  draw_leading_counter(report, canvas, y + 12);
}

}  // namespace

void plan_answer(PostmortemPages& pages) {
  const std::string question = "What happened, and how sure is that?";
  const std::string remark =
      pages.report.redacted ? "Redacted: names and paths are replaced by tokens; figures are as measured." : "";
  if (pages.has_stacks) return plan_answer(pages.growth, question, remark);
  pages.plan.add({title_of(pages.report), question, "", [&pages, remark](PdfDocument& document) {
                    draw_counters_answer(pages.report, remark, document.canvas());
                  }});
}

}  // namespace snapdiff::render
