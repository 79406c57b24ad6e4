#include "analyzer/render/chart/story_facts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "analyzer/base/concat.hpp"
#include "analyzer/render/chart/chart.hpp"

namespace snapdiff::render {

std::vector<Paint> paints_of(const std::vector<Band>& bands) {
  const std::array<Color, 3> strengths = {kGrow.c500, kGrow.c300, kGrow.c100};
  std::vector<Paint> out(bands.size(), Paint{kOther});
  std::size_t strength = 0;
  for (std::size_t i = bands.size(); i-- > 0;) {
    if (bands[i].kind == Band::Kind::role) out[i] = {kRoles[std::min(bands[i].index, kRoles.size() - 1)]};
    if (bands[i].kind == Band::Kind::passing) out[i] = {kPaper, true};
    if (bands[i].kind == Band::Kind::freed) out[i] = {kShrink.c100, true};
    if (bands[i].kind == Band::Kind::culprit) out[i] = {strengths[std::min<std::size_t>(strength++, 2)]};
  }
  return out;
}

namespace {

/// Steps that stand out: at least three times the median and a tenth of the largest total; at most four.
std::vector<std::size_t> large_steps(const Story& story) {
  constexpr std::size_t kMost = 4;
  std::vector<double> sizes;
  double most = 0;
  for (const SeriesStep& step : story.steps) {
    if (&step != &story.steps.front()) sizes.push_back(std::fabs(static_cast<double>(step.growth)));
    most = std::max(most, std::fabs(static_cast<double>(step.total)));
  }
  if (sizes.size() < 2) return {};
  std::vector<double> sorted = sizes;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  const double least = std::max(3 * sorted[sorted.size() / 2], most / 10);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] >= least && sizes[i] > 0) out.push_back(i + 1);
  }
  std::ranges::stable_sort(out, [&](std::size_t a, std::size_t b) { return sizes[a - 1] > sizes[b - 1]; });
  if (out.size() > kMost) out.resize(kMost);
  std::ranges::sort(out);
  return out;
}

class SeriesPlot {
 public:
  SeriesPlot(const Story& story, Canvas& canvas, double y, double height)
      : story_(story), canvas_(canvas), q_(quantity_of(story.overall.unit)), chart_{kX0, kX1, y + 14, y + height - 16} {
    for (const SeriesStep& step : story.before) steps_.push_back(&step);
    for (const SeriesStep& step : story.steps) steps_.push_back(&step);
    double most = 0;
    for (const SeriesStep* step : steps_) {
      most = std::max(most, static_cast<double>(step->total));
      least_ = std::min(least_, static_cast<double>(step->total));
    }
    axis_ = axis_for(most, q_.bytes);
    bands_ = plot_bands(story);
    if (least_ < 0) bands_.clear();
    paints_ = paints_of(bands_);
  }

  void draw(bool mark_steps) {
    before();
    grid();
    stack();
    line();
    restarts();
    missing();
    names();
    if (mark_steps) steps();
  }

 private:
  /// Of step i of all, and of the judged ones.
  double x_of(std::size_t i) const { return plot_x(i, steps_.size()); }
  double x(std::size_t i) const { return x_of(story_.before.size() + i); }
  double y(double value) const {
    const double range = axis_.top * axis_.unit - least_;
    return chart_.y1 - (chart_.y1 - chart_.y0) * (value - least_) / (range > 0 ? range : 1);
  }

  bool is_missing_before(std::size_t i) const {
    return std::ranges::any_of(story_.missing, [&](const MissingInput& one) { return one.before == i; });
  }

  /// Snapshots before a restart are shown, and distinguished.
  void before() {
    if (story_.before.empty()) return;
    const double end = (x_of(story_.before.size() - 1) + x(0)) / 2;
    canvas_.rect({kX0, chart_.y0, end - kX0, chart_.y1 - chart_.y0}, kPanel);
    for (const char* const text : {"before the restart: not judged", "not judged"}) {
      if (canvas_.width(text, {6.8}) > end - kX0 - 8) continue;
      canvas_.text(kX0 + 4, chart_.y0 + 8, text, {6.8}, kInk2);
      break;
    }
  }

  void grid() {
    chart_.value_axis(canvas_, {axis_, 0, axis_.top, axis_.step}, q_.bytes, [this](double value) { return y(value); });
    chart_.snapshot_numbers(canvas_, steps_.size(), 1, 24, 11, [this](std::size_t i) { return x_of(i); });
  }

  void stack() {
    std::vector<double> low(story_.steps.size(), 0);
    for (std::size_t b = 0; b < bands_.size(); ++b) {
      std::vector<double> high = low;
      for (std::size_t i = 0; i < low.size(); ++i) high[i] += bands_[b].values[i];
      Path area;
      area.move({x(0), y(low[0])});
      for (std::size_t i = 1; i < low.size(); ++i) area.line({x(i), y(low[i])});
      for (std::size_t i = low.size(); i-- > 0;) area.line({x(i), y(high[i])});
      area.close();
      canvas_.painter().fill(area, paints_[b].fill);
      if (paints_[b].hatched)
        canvas_.painter().hatch(area, {kX0, chart_.y0, kX1 - kX0, chart_.y1 - chart_.y0}, kShrink.c500, 3.6, 0.5);
      Path edge;
      edge.move({x(0), y(high[0])});
      for (std::size_t i = 1; i < low.size(); ++i) edge.line({x(i), y(high[i])});
      if (!paints_[b].hatched) canvas_.painter().stroke(edge, {kPaper, 0.8});
      if (bands_[b].kind == Band::Kind::passing) name_passing(b, low, high);
      const bool is_inside = bands_[b].kind == Band::Kind::role && name_inside(b, low, high);
      const bool of_roles = bands_.back().kind == Band::Kind::role;
      if (!is_inside && (!of_roles || high.back() > low.back())) ends_.push_back({(low.back() + high.back()) / 2, b});
      low = std::move(high);
    }
  }

  /// Beside its peak, where the line leaves room.
  void name_passing(std::size_t b, const std::vector<double>&, const std::vector<double>& high) {
    const std::vector<double>& v = bands_[b].values;
    const auto peak = static_cast<std::size_t>(std::ranges::max_element(v) - v.begin());
    std::size_t first = peak;
    std::size_t last = peak;
    while (first > 0 && v[first - 1] > v[peak] / 2) --first;
    while (last + 1 < v.size() && v[last + 1] > v[peak] / 2) ++last;
    const std::string text = canvas_.type().fit_middle(bands_[b].note, {7, FontWeight::medium}, 220);
    passing_ = {text, x(last) + 9, y(high[last]) + 4, x(first) - 9};
  }

  /// In the band, where it is thickest and no other name is; false without room.
  bool name_inside(std::size_t b, const std::vector<double>& low, const std::vector<double>& high) {
    constexpr double kThick = 11;
    std::vector<std::size_t> order(low.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::vector<double>& v = bands_[b].values;
    std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) { return v[i] > v[j]; });
    const double half = canvas_.width(bands_[b].name, {7, FontWeight::medium}) / 2;
    for (const std::size_t i : order) {
      if (y(low[i]) - y(high[i]) < kThick) return false;
      const double at = std::clamp(x(i), kX0 + half + 6, kX1 - half - 6);
      const double base = (y(low[i]) + y(high[i])) / 2 + 2.4;
      const bool is_free = std::ranges::none_of(inside_, [&](const Inside& other) {
        return std::fabs(other.x - at) < other.half + half + 6 && std::fabs(other.y - base) < 10;
      });
      if (!is_free) continue;
      inside_.push_back({bands_[b].name, at, base, half});
      return true;
    }
    return false;
  }

  void line() {
    std::vector<Point> points;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      points.push_back({x_of(i), y(static_cast<double>(steps_[i]->total))});
    // No line leads over a restart, nor over a missing input: what was between the two is not known.
    draw_value_line(canvas_, points, kInk, 1.5,
                    [this](std::size_t i) { return i == story_.before.size() || is_missing_before(i); });
  }

  void restarts() {
    for (std::size_t i = 1; i < steps_.size(); ++i) {
      const SeriesStep& step = *steps_[i];
      if (step.restart.empty() && !step.other_build) continue;
      const double at = (x_of(i - 1) + x_of(i)) / 2;
      chart_.upright(canvas_, at, {kInk3, 0.7, 2, 2});
      const char* const word = step.other_build ? "release" : step.other_process ? "restart" : "restart?";
      canvas_.text(at, chart_.y0 - 3, word, {6.8}, kInk2, Align::centre);
    }
  }

  /// Between its neighbours, where an input is missing; several of one place are one mark.
  void missing() {
    double free_from = kX0;
    for (std::size_t m = 0; m < story_.missing.size();) {
      const std::size_t before = std::min(story_.missing[m].before, steps_.size());
      std::size_t count = 0;
      for (; m < story_.missing.size() && std::min(story_.missing[m].before, steps_.size()) == before; ++m) ++count;
      const double half = (x_of(1) - x_of(0)) / 2;
      const double at = std::clamp(x_of(before) - half, kX0, kX1);
      chart_.upright(canvas_, at, {kInk3, 0.7, 1, 2.4});
      canvas_.cross({at, chart_.y1 - 6}, 2.6, {kInk, 1.2});
      const std::string text = std::to_string(count).append(" missing");
      const double w = canvas_.width(text, {6.8});
      const double left = std::clamp(at - w / 2, kX0, kX1 - w);
      if (left < free_from) continue;
      free_from = left + w + 4;
      canvas_.text(left, chart_.y0 - 3, text, {6.8}, kInk2);
    }
  }

  /// Amounts of the largest steps, beside the step where the line leaves room: before a rise, after
  /// a fall.
  void steps() {
    const TextStyle style{7, FontWeight::semibold};
    double free_from = kX0;
    for (const std::size_t i : large_steps(story_)) {
      const std::int64_t growth = story_.steps[i].growth;
      if (!story_.steps[i].restart.empty()) continue;
      const std::string text = q_.growth(growth);
      const double w = canvas_.width(text, style) + 8;
      const double before = y(static_cast<double>(story_.steps[i - 1].total));
      const double after = y(static_cast<double>(story_.steps[i].total));
      double at = growth > 0 ? (x(i - 1) + x(i)) / 2 - w - 4 : (x(i - 1) + x(i)) / 2 + 6;
      double line = (before + after) / 2 + 2.4;
      if (at < kX0 + 2 || at + w > kX1) {
        at = std::clamp(at, kX0 + 2, kX1 - w);
        line = std::max(std::min(before, after) - 7, chart_.y0 + 6);
      }
      if (at < free_from) continue;
      free_from = at + w + 2;
      canvas_.rect({at - 1, line - 7, w, 9.5}, kPaper, 2);
      canvas_.growth(at + 1, line, growth, text, style, ramp_of(static_cast<double>(growth)).c700);
    }
  }

  /// At the right end of the bands, moved apart where they would touch.
  void names() {
    if (!passing_.text.empty()) {
      const TextStyle style{7, FontWeight::medium};
      const double w = canvas_.width(passing_.text, style);
      double at = passing_.x;
      if (at + w > kX1) at = std::max(kX0 + 4, passing_.left - w);
      canvas_.rect({at - 2, passing_.y - 7, w + 4, 9.5}, kPaper);
      canvas_.text(at, passing_.y, passing_.text, style, kShrink.c900);
    }
    for (const Inside& name : inside_) {
      canvas_.rect({name.x - name.half - 2, name.y - 7, 2 * name.half + 4, 9.5}, kPaper, 2);
      canvas_.text(name.x, name.y, name.text, {7, FontWeight::medium}, kInk, Align::centre);
    }
    double floor = chart_.y1 + 3;
    for (const auto& [middle, b] : ends_) {
      if (bands_[b].kind == Band::Kind::passing) continue;
      const double at = std::min(y(middle) + 2.4, floor);
      floor = at - 8.5;
      const bool strong = bands_[b].kind != Band::Kind::other;
      canvas_.text_within(kX1 + 8, at, bands_[b].name, {7.2, strong ? FontWeight::medium : FontWeight::regular},
                          strong ? kInk : kInk2, kRight - kX1 - 8);
    }
  }

  static constexpr double kX0 = kPlotLeft, kX1 = kPlotRight;
  struct Passing {
    std::string text;
    double x = 0, y = 0, left = 0;
  };
  struct Inside {
    std::string text;
    double x = 0, y = 0, half = 0;
  };
  const Story& story_;
  std::vector<const SeriesStep*> steps_;
  Canvas& canvas_;
  Quantity q_;
  Chart chart_;
  double least_ = 0;
  Axis axis_;
  std::vector<Band> bands_;
  std::vector<Paint> paints_;
  std::vector<std::pair<double, std::size_t>> ends_;
  Passing passing_;
  std::vector<Inside> inside_;
};

constexpr double kSummaryPlotBar = 22;

/// A line between two snapshots would look like a trend.
bool has_bars(const Story& story) { return story.before.empty() && story.steps.size() <= 2; }

/// The peak of a snapshot without a history: both ends are that one moment.
bool shows_one(const Story& story) { return has_bars(story) && told(story.overall).is_of_peak; }

/// Two bars of one scale, one above the other, and a key of the parts.
void draw_bars(const Story& story, Canvas& canvas, double y) {
  const Quantity q = quantity_of(story.overall.unit);
  std::vector<Band> bands = plot_bands(story);
  const std::array<double, 2> totals = {static_cast<double>(story.overall.total.baseline),
                                        static_cast<double>(story.overall.total.current)};
  const double most = std::max({totals[0], totals[1], 1.0});
  const double x0 = kLeft + 40;
  const double room = kRight - x0 - 62;
  if (bands.empty())
    bands.push_back({"all stacks", Band::Kind::other, "", {std::max(totals[0], 0.0), std::max(totals[1], 0.0)}, 0});
  const std::vector<Paint> paints = paints_of(bands);
  const bool is_one = shows_one(story);
  for (std::size_t side = is_one ? 1 : 0; side < 2; ++side) {
    const double top = y + 12 + static_cast<double>(side - (is_one ? 1 : 0)) * (kSummaryPlotBar + 8);
    if (!is_one) canvas.text(kLeft, top + kSummaryPlotBar / 2 + 2.6, side == 0 ? "before" : "after", {7.4}, kInk2);
    double x = x0;
    for (std::size_t b = 0; b < bands.size(); ++b) {
      const double w = room * bands[b].values[side] / most;
      if (w <= 0) continue;
      const Box box{x, top, std::max(w - 0.8, 0.3), kSummaryPlotBar};
      canvas.rect(box, paints[b].fill);
      if (paints[b].hatched) canvas.hatched(box, kShrink.c500);
      x += w;
    }
    canvas.rule(x0, x0, top, kInk, 0.7);
    canvas.painter().stroke(Path().move({x0, top - 2}).line({x0, top + kSummaryPlotBar + 2}), {kInk3, 0.7});
    canvas.text(x0 + room * std::max(totals[side], 0.0) / most + 6, top + kSummaryPlotBar / 2 + 2.8,
                q.value(side == 0 ? story.overall.total.baseline : story.overall.total.current),
                {8.2, FontWeight::semibold}, kInk);
  }
  // The key, from the largest part after to the rest, until the line is full.
  double x = x0;
  const double line = y + 12 + (is_one ? 1 : 2) * (kSummaryPlotBar + 8) + 9;
  for (std::size_t b = bands.size(); b-- > 0;) {
    const double growth = bands[b].values[1] - (is_one ? 0 : bands[b].values[0]);
    if (is_one && growth <= 0) continue;
    std::string text = canvas.type().fit_middle(printable(bands[b].name), {7.2, FontWeight::medium}, 110);
    const auto number = static_cast<std::int64_t>(std::clamp(growth, -9e18, 9e18));
    text.append("  ").append(is_one ? q.value(number) : q.growth(number));
    const double w = canvas.width(text, {7.2}) + 22;
    if (x + w > kRight) break;
    const Box box{x, line - 6.5, 9, 8};
    canvas.rect(box, paints[b].fill);
    if (paints[b].hatched) canvas.hatched(box, kShrink.c500, 2.6, 0.6);
    canvas.frame(box, {kLine, 0.4});
    canvas.text(x + 13, line, text, {7.2}, kInk2);
    x += w;
  }
}

}  // namespace

double plot_x(std::size_t i, std::size_t n) {
  return kPlotLeft +
         (kPlotRight - kPlotLeft) * static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(n, 2) - 1);
}

double plot_height(const Story& story) {
  if (has_bars(story)) return 88;
  const auto changed =
      std::ranges::count_if(story.overall.rows, [](const GrowthRow& row) { return row.grew != 0 || row.shrank != 0; });
  return changed <= 6 ? 200 : 172;
}

double draw_plot(const Story& story, Canvas& canvas, double y, double height, bool mark_steps) {
  const std::string what = metric_title(story.overall.metric);
  canvas.text(kLeft, y,
              concat(what, shows_one(story)  ? ""
                           : has_bars(story) ? " before and after"
                                             : " at each snapshot"),
              {9, FontWeight::semibold}, kInk);
  const double w = canvas.width(what, {9, FontWeight::semibold}) + 90;
  const std::string note = canvas.type().fit_end(printable(story.order_note), {7}, kWidth - w);
  canvas.text(kRight, y, note, {7}, kInk3, Align::right);
  if (has_bars(story)) {
    draw_bars(story, canvas, y);
  } else {
    SeriesPlot(story, canvas, y, height).draw(mark_steps);
  }
  return y + height;
}

}  // namespace snapdiff::render
