#include <algorithm>
#include <cmath>

#include "analyzer/render/chart/story_facts.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

constexpr double kTotalsPagePlotHeight = 196;
constexpr double kStripHeight = 46;
constexpr double kPanelHeight = 44;
constexpr std::size_t kPanels = 4;
constexpr double kTotalsPageRow = 12.4;
constexpr double kTotalsPageHead = 22;
constexpr std::size_t kTotalsPageMostPages = 2;
/// Below this share of the largest step a bar is a line.
constexpr double kTotalsPageLeastBar = 0.6;

const std::vector<SeriesStep>& steps_of(const PostmortemPages& pages) { return pages.report.steps; }

double largest_step(const std::vector<SeriesStep>& steps) {
  double most = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i].restart.empty()) most = std::max(most, std::fabs(static_cast<double>(steps[i].growth)));
  }
  return most;
}

/// A bar per step on the plot's axis: up what was added, down and hatched what went.
void draw_strip(const PostmortemPages& pages, Canvas& canvas, double y) {
  const std::vector<SeriesStep>& steps = steps_of(pages);
  const Quantity q = quantity_of(pages.report.growth().unit);
  const double most = largest_step(steps);
  const double middle = y + kStripHeight / 2;
  canvas.text(kLeft, y - 1, "growth of each step", {7}, kInk2);
  canvas.rule(kPlotLeft, kPlotRight, middle, kInk3, 0.5);
  if (most <= 0) {
    canvas.text(kPlotLeft + 4, middle - 3, "no step changed the total", {7}, kInk2);
    return;
  }
  const double w = std::clamp((kPlotRight - kPlotLeft) / static_cast<double>(steps.size()) * 0.5, 0.8, 14.0);
  std::size_t largest = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const auto growth = static_cast<double>(steps[i].growth);
    if (growth == 0 || !steps[i].restart.empty()) continue;
    if (largest == 0 || std::fabs(growth) > std::fabs(static_cast<double>(steps[largest].growth))) largest = i;
    const double h = std::max(std::fabs(growth) / most * (kStripHeight / 2 - 8), kTotalsPageLeastBar);
    // The last one keeps inside the axis.
    const double x = std::min(plot_x(i, steps.size()) - w / 2, kPlotRight - w);
    const Box bar{x, growth > 0 ? middle - h : middle, w, h};
    growth > 0 ? canvas.rect(bar, kGrow.c500) : canvas.gone(bar, 2.4, 0.6, 0.5);
  }
  if (largest == 0) return;
  const std::string text = concat("largest: ", q.growth(steps[largest].growth), " at ", largest + 1);
  canvas.text(kPlotRight + 8, middle + 2.5, text, {7}, kInk2);
}

/// The counters that changed most, small, beside the totals.
double draw_counters(const PostmortemPages& pages, Canvas& canvas, double y) {
  const CounterReport& counters = *pages.report.counters;
  std::vector<const CounterRow*> rows;
  for (const CounterRow& row : counters.rows) {
    // One device's numbers are those of all devices where there is one.
    const bool again = std::ranges::any_of(
        rows, [&](const CounterRow* shown) { return shown->unit == row.unit && shown->values == row.values; });
    if (row.known() > 1 && !row.cumulative && !again && rows.size() < kPanels) rows.push_back(&row);
  }
  if (rows.empty()) return y;
  canvas.painter().begin_link(pages.plan.anchor_of("counters"));
  draw_section(canvas, y, "Numbers of the whole process",
               concat("all ", counted(counters.rows.size(), "counter"), ": page ", pages.plan.page_of("counters")));
  canvas.painter().end_link();
  const double w = (kWidth - 12 * (kPanels - 1)) / static_cast<double>(kPanels);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const CounterRow& row = *rows[i];
    const Quantity q = quantity_of(row.unit);
    const double x = kLeft + (w + 12) * static_cast<double>(i);
    canvas.text_within(x, y + 16, printable(row.name), {7.4, FontWeight::medium}, kInk, w);
    std::vector<std::int64_t> values;
    for (const std::optional<std::int64_t>& value : row.values) {
      if (value) values.push_back(*value);
    }
    canvas.sparkline({x, y + 21, w - 4, 16}, values);
    canvas.text_cut(x, y + 46, q.value(row.before()).append(" \u2192 ").append(q.value(row.after())), {6.8}, kInk2, w);
  }
  return y + kPanelHeight + 22;
}

/// The heaviest stack of a step: allocated in, and as many callers as there is room for.
void draw_heaviest(const PostmortemPages& pages, const SeriesStep& step, Canvas& canvas, double x, double y,
                   double room) {
  if (!step.restart.empty()) {
    canvas.text_cut(x, y, std::string("restart: ").append(step.restart), {7.2, FontWeight::semibold}, kInk, room);
    return;
  }
  constexpr TextStyle kStyle{7.2};
  const std::string common = printable(pages.report.growth().common_path);
  std::string text;
  std::string last;
  for (std::size_t i = 0; i < step.heaviest.size(); ++i) {
    const std::string name = frame_name(step.heaviest[i]);
    if (name == last) continue;
    last = name;
    const std::string longer = text.empty() ? name : concat(text, " \u2039 ", name);
    if (!text.empty() && canvas.width(std::string(longer).append(" \u2039 \u2026"), kStyle) > room) {
      text.append(" \u2039 \u2026");
      break;
    }
    text = longer;
    // Further up all stacks are alike.
    if (i > 0 && name == common) break;
  }
  canvas.text_within(x, y, text, kStyle, kInk2, room);
}

void draw_step_head(const PostmortemPages& pages, Canvas& canvas, double y, const std::string& remark) {
  draw_section(canvas, y, "Step by step", remark);
  const TextStyle style{7};
  const double line = y + 16;
  canvas.text(kLeft + 16, line, "#", style, kInk2, Align::right);
  canvas.text(kLeft + 22, line, "snapshot", style, kInk2);
  canvas.text(kLeft + 176, line, "total", style, kInk2, Align::right);
  canvas.text(kLeft + 236, line, "growth", style, kInk2, Align::right);
  if (pages.report.growth().has_objects) canvas.text(kLeft + 284, line, "objects", style, kInk2, Align::right);
  canvas.text(kLeft + 294, line, "changed most: allocated in, through", style, kInk2);
  canvas.text(kRight, line, "by", style, kInk2, Align::right);
  canvas.rule(kLeft, kRight, line + 4, kLine, 0.5);
}

void draw_step(const PostmortemPages& pages, std::size_t i, double most, Canvas& canvas, double y) {
  const SeriesStep& step = steps_of(pages)[i];
  const Quantity q = quantity_of(pages.report.growth().unit);
  const TextStyle style{7.4};
  const bool before = i < pages.story.before.size();
  const Color ink = before ? kInk3 : kInk;
  canvas.text(kLeft + 16, y, std::to_string(i + 1), {7.2}, kInk3, Align::right);
  canvas.text_within(kLeft + 22, y, snapshot_name(step.snapshot), style, ink, 104);
  canvas.number(kLeft + 176, y, q.value(step.total), style, ink, q.bytes ? 20 : 0);
  const bool restarted = !step.restart.empty();
  if (i > 0 && !restarted) {
    const auto growth = static_cast<double>(step.growth);
    const Color color = growth == 0 ? kInk2 : ramp_of(growth).c700;
    // The largest steps are marked by a triangle and by weight; the others by their sign.
    const bool large = most > 0 && std::fabs(growth) >= most / 2;
    if (growth != 0) canvas.triangle(kLeft + 182, y - 0.4, growth > 0, 4.6, color);
    canvas.number(kLeft + 236, y, q.growth(step.growth), {7.4, large ? FontWeight::semibold : FontWeight::regular},
                  color, q.bytes ? 20 : 0);
  }
  if (step.objects) canvas.text(kLeft + 284, y, count_text(*step.objects), style, ink, Align::right);
  const bool by = step.heaviest_growth != 0 && !restarted;
  const double right = by ? canvas.text(kRight, y, q.growth(step.heaviest_growth), {7}, kInk2, Align::right) + 8 : 0;
  draw_heaviest(pages, step, canvas, kLeft + 294, y, kRight - kLeft - 294 - right);
  canvas.rule(kLeft, kRight, y + 3.8, kLine, 0.3);
}

std::string totals_sentence(const PostmortemPages& pages) {
  const Postmortem& report = pages.report;
  if (!report.trend.restart.empty())
    return concat("The process restarted at snapshot ", report.trend.left_out + 1, ": ",
                  printable(report.trend.restart), ". What came before is shown, but in no figure of this report.");
  if (!report.trend.whole.reason.empty() && report.trend.series.steps.size() > 2)
    return concat("The total: ", printable(report.trend.whole.reason),
                  ". Leaks are judged by stacks, never by the total.");
  return headline(report.growth()).append(".");
}

}  // namespace

void plan_totals(PostmortemPages& pages) {
  const std::vector<SeriesStep>& steps = steps_of(pages);
  const bool bars = pages.story.before.empty() && pages.story.steps.size() <= 2;
  const bool counters = pages.report.counters && !pages.report.counters->rows.empty();
  double top = kTop + 82 + (bars ? 96 : kTotalsPagePlotHeight + 22 + kStripHeight) + 22;
  if (counters) top += kPanelHeight + 26;
  const auto rows_from = [](double y) {
    return static_cast<std::size_t>(std::max(0.0, (kBottom - 6 - y - kTotalsPageHead) / kTotalsPageRow));
  };
  const std::size_t first = rows_from(top);
  const std::size_t each = rows_from(kTop + 56);
  const std::vector<std::size_t> shown = chosen_steps(steps, first + (kTotalsPageMostPages - 1) * each);
  const std::string remark =
      shown.size() < steps.size()
          ? concat("both ends, restarts and the largest steps: ", shown.size(), " of ", steps.size())
          : std::string("the stack that changed most in each step, and by how much");
  const double most = largest_step(steps);
  const bool more = shown.size() > first;
  const auto draw_rows = [&pages, shown, most](Canvas& canvas, std::size_t begin, std::size_t end, double y) {
    for (std::size_t i = begin; i < end; ++i)
      draw_step(pages, shown[i], most, canvas,
                y + kTotalsPageHead + 10 + kTotalsPageRow * static_cast<double>(i - begin));
  };
  pages.plan.add({"totals", "Totals over time", "When did it grow, and how steadily?", more ? "Totals over time" : "",
                  [&pages, bars, counters, first, shown, remark, draw_rows](PdfDocument& document) {
                    Canvas& canvas = document.canvas();
                    canvas.paragraph(kLead, totals_sentence(pages), {8.6}, kInk2, 2);
                    double y = kTop + 92;
                    draw_plot(pages.story, canvas, y, bars ? 88 : kTotalsPagePlotHeight);
                    y += bars ? 96 : kTotalsPagePlotHeight + 18;
                    if (!bars) {
                      draw_strip(pages, canvas, y);
                      y += kStripHeight;
                    }
                    y += 16;
                    if (counters) y = draw_counters(pages, canvas, y);
                    draw_step_head(pages, canvas, y, remark);
                    draw_rows(canvas, 0, std::min(first, shown.size()), y);
                  }});
  if (!more) return;
  pages.plan.add({"", "Totals over time, continued", "When did it grow, and how steadily?", "Totals over time",
                  [&pages, first, shown, remark, draw_rows](PdfDocument& document) {
                    draw_step_head(pages, document.canvas(), kTop + 56, remark);
                    draw_rows(document.canvas(), first, shown.size(), kTop + 56);
                  }});
}

}  // namespace snapdiff::render
