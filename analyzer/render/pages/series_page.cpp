#include <algorithm>
#include <cmath>

#include "analyzer/base/concat.hpp"
#include "analyzer/render/chart/story_facts.hpp"
#include "analyzer/render/pages/pages.hpp"
#include "analyzer/render/paint/picture_page.hpp"

namespace snapdiff::render {
namespace {

constexpr double kPlot = 262;
constexpr double kSeriesPageHead = 32;
constexpr double kSeriesPageRow = 12;
constexpr double kSeriesPageUnit = 20;
constexpr double kSeriesPageGap = 20;
/// Of a picture without a page: more rows say no more.
constexpr std::size_t kMostSteps = 120;

std::int64_t whole(double value) { return static_cast<std::int64_t>(std::clamp(std::round(value), -9.2e18, 9.2e18)); }

class SeriesContent {
 public:
  SeriesContent(const Story& story, Canvas& canvas)
      : story_(story), canvas_(canvas), q_(quantity_of(story.overall.unit)), bands_(plot_bands(story)) {}

  double draw(double top, double bottom) {
    canvas_.badge(kRight, kTop + 34, told(story_.overall).verdict, 9.5, Align::right);
    double y = canvas_.paragraph(draw_blocks(event_blocks(story_.overall, canvas_.type()), canvas_, top),
                                 culprits_sentence(story_.overall), {8.6}, kInk2, 4) +
               22;
    const double plot = story_.steps.size() <= 2 ? plot_height(story_) : kPlot;
    y = draw_plot(story_, canvas_, y, plot, true) + kSeriesPageGap;
    if (!bands_.empty()) y = bands(y) + kSeriesPageGap;
    return steps(y, bottom);
  }

 private:
  double unit() const { return q_.bytes ? kSeriesPageUnit : 0; }

  void head(double y, const std::string& title, const std::string& remark) {
    canvas_.heading(y, title, remark);
    canvas_.rule(kLeft, kRight, y + 6, kInk3, 0.7);
  }
  void column(double x, double y, const char* text) { canvas_.text(x, y, text, {7}, kInk2, Align::right); }
  void growth(double x, double y, std::int64_t value, bool total) {
    const Color color = total ? kInk : growth_color(value);
    canvas_.number(x, y, q_.growth(value), {7.8, FontWeight::semibold}, color, unit());
  }
  void value(double x, double y, std::int64_t v, bool total = false) {
    canvas_.number(x, y, q_.value(v), {7.6, total ? FontWeight::semibold : FontWeight::regular}, kInk, unit());
  }

  /// The bands of the plot, the topmost first; what is in none makes them add up.
  double bands(double y) {
    head(y, "Bands", "from the top of the plot down; every byte is in one of them");
    const double first = kRight - 136, last = kRight - 68;
    column(first, y + 18, "first");
    column(last, y + 18, "last");
    column(kRight, y + 18, "growth");
    y += kSeriesPageHead;
    const std::vector<Paint> paints = paints_of(bands_);
    Change rest = story_.overall.total;
    for (std::size_t b = bands_.size(); b-- > 1;) {
      const Change value{whole(bands_[b].values.front()), whole(bands_[b].values.back())};
      rest -= value;
      y = band(y, paints[b], bands_[b].name, value, first, last);
    }
    // The lowest band is what no other holds.
    y = band(y, paints.front(), bands_.front().name, rest, first, last);
    canvas_.rule(kLeft, kRight, y - 8.6, kInk3, 0.7);
    ++y;
    canvas_.text(kLeft, y, "TOTAL", {7.6, FontWeight::semibold}, kInk);
    value(first, y, story_.overall.total.baseline, true);
    value(last, y, story_.overall.total.current, true);
    growth(kRight, y, story_.overall.total.growth(), true);
    return y;
  }

  double band(double y, const Paint& paint, const std::string& name, const Change& value, double first, double last) {
    const Box swatch{kLeft, y - 6.6, 12, 8};
    canvas_.rect(swatch, paint.fill);
    if (paint.hatched) canvas_.hatched(swatch, kShrink.c500, 2.6, 0.6);
    canvas_.text_within(kLeft + 18, y, name, {7.6}, kInk, first - 60 - kLeft - 18);
    this->value(first, y, value.baseline);
    this->value(last, y, value.current);
    growth(kRight, y, value.growth(), false);
    return y + kSeriesPageRow;
  }

  double steps(double y, double bottom) {
    const double room = bottom - y - kSeriesPageHead - 2 * kSeriesPageRow;
    const auto fits = static_cast<std::size_t>(std::max(2.0, room / kSeriesPageRow));
    const std::vector<std::size_t> rows = chosen_steps(story_.steps, std::min(fits, kMostSteps));
    const bool all = rows.size() == story_.steps.size();
    head(y, "Snapshots",
         all ? "growth since the one before; the stack that changed most in that step"
             : "first, last and those that changed most; growth since the one before");
    const bool times = has_times(story_);
    total_x_ = kLeft + (times ? 270 : 210);
    growth_x_ = total_x_ + 62;
    canvas_.text(kLeft + 18, y + 18, times ? "name, time" : "name", {7}, kInk2);
    column(total_x_, y + 18, "total");
    column(growth_x_, y + 18, "growth");
    canvas_.text(growth_x_ + 12, y + 18, "mostly in", {7}, kInk2);
    y += kSeriesPageHead;
    const std::int64_t sum = wrapping_difference(story_.steps.back().total, story_.steps.front().total);
    std::int64_t others_growth = sum;
    for (const std::size_t i : rows) {
      others_growth = wrapping_difference(others_growth, story_.steps[i].growth);
      step(y, i, times);
      y += kSeriesPageRow;
    }
    if (!all) {
      canvas_.text(kLeft + 18, y, others_text(story_.steps.size() - rows.size()), {7.6}, kInk2);
      growth(growth_x_, y, others_growth, false);
      y += kSeriesPageRow;
    }
    canvas_.rule(kLeft, kRight, y - 8.6, kInk3, 0.7);
    ++y;
    canvas_.text(kLeft, y, "TOTAL", {7.6, FontWeight::semibold}, kInk);
    value(total_x_, y, story_.steps.back().total, true);
    growth(growth_x_, y, sum, true);
    return y + 3;
  }

  void step(double y, std::size_t i, bool times) {
    const SeriesStep& step = story_.steps[i];
    canvas_.text(kLeft + 12, y, std::to_string(i + 1), {7}, kInk3, Align::right);
    const double name_room = total_x_ - 58 - (kLeft + 18) - (times ? 86 : 0);
    canvas_.text_within(kLeft + 18, y, snapshot_name(step.snapshot), {7.6}, kInk, name_room);
    if (times && step.snapshot.snapshot != nullptr && step.snapshot.snapshot->facts.taken_at_ns)
      canvas_.text(kLeft + 18 + name_room + 6, y, time_text(*step.snapshot.snapshot->facts.taken_at_ns), {6.6}, kInk2);
    value(total_x_, y, step.total);
    if (i > 0) growth(growth_x_, y, step.growth, false);
    const double x = growth_x_ + 12;
    if (!step.restart.empty()) {
      const std::string why = std::string(step.other_process ? "other process: " : "restart? ").append(step.restart);
      canvas_.text_cut(x, y, why, {7.2}, kInk2, kRight - x);
      return;
    }
    if (step.heaviest.empty() || step.heaviest_growth == 0) return;
    const std::string amount = q_.growth(step.heaviest_growth);
    const double w = canvas_.width(amount, {7});
    const double named = canvas_.text_within(x, y, frame_name(step.heaviest.front()), {7.6}, kInk, kRight - x - w - 8);
    canvas_.text(x + named + 6, y, amount, {7}, kInk2);
  }

  const Story& story_;
  Canvas& canvas_;
  Quantity q_;
  std::vector<Band> bands_;
  double total_x_ = 0, growth_x_ = 0;
};

}  // namespace

Result<std::string> draw_series(const Story& story, PictureForm form, Paper paper) {
  if (story.steps.size() < 2)
    return Error{ErrorCode::usage, concat("chart of ", story.steps.size(), " snapshots: expected two or more")};
  const PageFrame frame{printable(story.title), answer_title(story.overall), "How did it come about, and when?",
                        footer_text(story.overall).append("  \u00b7  ").append(printable(story.version))};
  return draw_single_page(
      {frame, story.version, story.created_at_ns,
       [&](Canvas& canvas, double top, double bottom) { return SeriesContent(story, canvas).draw(top, bottom); }},
      form, paper);
}

}  // namespace snapdiff::render
