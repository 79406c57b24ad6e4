#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "analyzer/render/chart/chart.hpp"
#include "analyzer/render/memory/memory_pages.hpp"
#include "analyzer/render/render.hpp"
#include "snapdiff/trend.hpp"

namespace snapdiff::render {
namespace {

constexpr double kPanelHead = 17;
/// Above this share of the highest value the lowest is far from zero.
constexpr double kFarFromZero = 0.6;

ValueScale scale_for(double low, double high, bool bytes) {
  ValueScale scale;
  const bool from_zero = low < kFarFromZero * high || low <= 0;
  scale.axis = axis_for(std::max(std::abs(high), std::abs(low)), bytes);
  const double unit = scale.axis.unit;
  scale.step = axis_for((from_zero ? high - std::min(low, 0.0) : high - low) / unit, false).step;
  if (!(scale.step > 0)) scale.step = scale.axis.step;
  const double floor = std::floor(low / unit / scale.step) * scale.step;
  scale.bottom = from_zero ? std::min(0.0, floor) : floor;
  scale.top = std::max(scale.bottom + scale.step, std::ceil(high / unit / scale.step - 1e-9) * scale.step);
  return scale;
}

/// One of several charts below each other: a head in a line, then values over time.
class ChartPanel {
 public:
  static constexpr double kX0 = kLeft + 46, kX1 = kRight;
  static constexpr double kMostHeight = 150, kGap = 16;
  /// Values that fall on one point of the page are drawn as one.
  static constexpr double kPointsApart = 1.0;

 protected:
  ChartPanel(Canvas& canvas, std::string_view unit, double y, double height, std::pair<double, double> range)
      : canvas_(canvas),
        q_(quantity_of(unit)),
        chart_{kX0, kX1, y + kPanelHead + 4, y + height - 12, 6.4, 2.2},
        scale_(scale_for(range.first, range.second, q_.bytes)) {}

  double y(double value) const {
    return chart_.y1 -
           (chart_.y1 - chart_.y0) * (value / scale_.axis.unit - scale_.bottom) / (scale_.top - scale_.bottom);
  }

  void value_axis() {
    chart_.value_axis(canvas_, scale_, q_.bytes, [this](double value) { return y(value); });
  }

  /// "+1 MiB" and "1 MiB → 2 MiB" at the right end of the head; returns where they begin.
  double growth_head(double right, double y, std::int64_t before, std::int64_t after, std::int64_t growth) {
    right -= canvas_.growth(right, y + 9, growth, q_.growth(growth), {8, FontWeight::semibold},
                            ramp_of(static_cast<double>(growth)).c700, Align::right) +
             10;
    const std::string values = q_.value(before) + " \u2192 " + q_.value(after);
    return right - (canvas_.text(right, y + 9, values, {8}, kInk2, Align::right) + 10);
  }

  Canvas& canvas_;
  Quantity q_;
  Chart chart_;
  ValueScale scale_;
};

constexpr double kLeastHeight = 74;
constexpr std::size_t kCountersPageDots = 40;

/// Seconds, minutes, hours or days.
struct TimeUnit {
  double seconds = 1;
  const char* name = "s";
};
TimeUnit unit_for(double span) {
  if (span < 300) return {};
  if (span < 3 * 3600) return {60, "min"};
  return span < 3 * 86400 ? TimeUnit{3600, "h"} : TimeUnit{86400, "d"};
}

std::pair<double, double> range_of(const CounterRow& row) {
  double low = static_cast<double>(row.before()), high = low;
  for (const std::optional<std::int64_t>& value : row.values) {
    if (!value) continue;
    low = std::min(low, static_cast<double>(*value));
    high = std::max(high, static_cast<double>(*value));
  }
  return {low, high};
}

class CounterPanel : ChartPanel {
 public:
  CounterPanel(const CounterReport& report, const CounterRow& row, Canvas& canvas, double y, double height)
      : ChartPanel(canvas, row.unit, y, height, range_of(row)),
        report_(report),
        row_(row),
        timed_(report.axis.seconds.size() == report.snapshots.size()) {}

  void draw(double y, bool last) {
    head(y);
    grid(last);
    line();
  }

 private:
  double x(std::size_t i) const {
    const double span = timed_ ? report_.axis.seconds.back() : static_cast<double>(report_.snapshots.size() - 1);
    const double at = timed_ ? report_.axis.seconds[i] : static_cast<double>(i);
    return kX0 + (kX1 - kX0) * (span > 0 ? at / span : 0.5);
  }
  void head(double y) {
    double right = kRight;
    const bool judged = row_.known() >= kJudgedFrom && !row_.verdict.word.empty();
    if (judged) right -= canvas_.badge(right, y + 9, row_.verdict.word, 6.6, Align::right) + 8;
    if (row_.cumulative) {
      std::string text = q_.growth(row_.growth) + " counted";
      if (row_.resets > 0) text += ", reset " + std::to_string(row_.resets) + "\u00d7";
      right -= canvas_.text(right, y + 9, text, {8}, kInk2, Align::right) + 10;
    } else {
      right = growth_head(right, y, row_.before(), row_.after(), row_.growth);
    }
    canvas_.text_within(kLeft, y + 9, printable(row_.name), {9, FontWeight::semibold}, kInk, right - kLeft);
  }

  void grid(bool last) {
    value_axis();
    if (!last) return;
    if (timed_) {
      const TimeUnit unit = unit_for(report_.axis.seconds.back());
      const Axis scale = axis_for(report_.axis.seconds.back() / unit.seconds, false);
      const double span = report_.axis.seconds.back() / unit.seconds;
      for (int i = 0; i * scale.step <= span * 1.0001; ++i) {
        const double value = i * scale.step;
        const bool named = value + scale.step > span * 1.0001;
        canvas_.text(kX0 + (kX1 - kX0) * value / span, chart_.y1 + 10,
                     tick_text(value, scale) + (named ? std::string(" ") + unit.name : ""), {6.4}, kInk2,
                     value == 0 ? Align::left
                     : named    ? Align::right
                                : Align::centre);
      }
      return;
    }
    canvas_.text(kX0, chart_.y1 + 10, "1", {6.4}, kInk2);
    canvas_.text(kX1, chart_.y1 + 10, "snapshot " + std::to_string(report_.snapshots.size()), {6.4}, kInk2,
                 Align::right);
  }

  /// Lowest and highest of what falls on one point of the page; unknown points are bridged.
  void line() {
    Path path;
    std::size_t known = 0;
    double column = -1e9;
    double low = 0, high = 0;
    bool begun = false;
    const auto put = [&](double px, double value) {
      const Point at{px, y(value)};
      begun ? path.line(at) : path.move(at);
      begun = true;
    };
    const auto flush = [&] {
      if (column < 0) return;
      put(column, low);
      if (high != low) put(column, high);
    };
    for (std::size_t i = row_.first; i <= row_.last; ++i) {
      if (!row_.values[i]) continue;
      ++known;
      const auto value = static_cast<double>(*row_.values[i]);
      if (x(i) - column < kPointsApart) {
        low = std::min(low, value);
        high = std::max(high, value);
        continue;
      }
      flush();
      column = x(i);
      low = high = value;
    }
    flush();
    const Color color = row_.cumulative ? kInk2 : row_.growth > 0 ? kGrow.c700 : row_.growth < 0 ? kShrink.c700 : kInk2;
    canvas_.painter().stroke(path, {color, 1.3, 0, 0, true});
    if (known > kCountersPageDots) return;
    for (std::size_t i = row_.first; i <= row_.last; ++i) {
      if (!row_.values[i]) continue;
      canvas_.dot({x(i), y(static_cast<double>(*row_.values[i]))}, 1.8, kPaper, {color, 1});
    }
  }

  const CounterReport& report_;
  const CounterRow& row_;
  bool timed_;
};

constexpr double kX0 = ChartPanel::kX0, kX1 = ChartPanel::kX1;
constexpr double kNoteLine = 9.5;
constexpr std::size_t kDots = 60;
constexpr std::size_t kMostNotes = 8;
constexpr double kDot = 2.0;

std::int64_t growth_between(std::int64_t before, std::int64_t after) {
  std::int64_t growth = 0;
  if (!__builtin_sub_overflow(after, before, &growth)) return growth;
  return after > before ? std::numeric_limits<std::int64_t>::max() : -std::numeric_limits<std::int64_t>::max();
}

/// Ticks at whole times of day.
class Clock {
 public:
  Clock(std::int64_t first_ns, std::int64_t last_ns) : first_(first_ns) {
    span_ = static_cast<double>(last_ns) - static_cast<double>(first_ns);
    static constexpr std::array<std::int64_t, 24> kSteps = {
        1,    2,    5,     10,    15,    30,    60,     120,    300,     600,     900,     1800,
        3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000};
    step_s_ = kSteps.back();
    for (const std::int64_t step : kSteps) {
      if (span_ / 1e9 > static_cast<double>(step) * 7) continue;
      step_s_ = step;
      break;
    }
  }

  double x(std::int64_t ns) const {
    return span_ > 0 ? kX0 + (kX1 - kX0) * (static_cast<double>(ns) - static_cast<double>(first_)) / span_
                     : (kX0 + kX1) / 2;
  }

  /// Seconds since 1970 of the ticks; fewer than two where the axis is shorter than a second.
  std::vector<std::int64_t> ticks(std::int64_t last_ns) const {
    std::vector<std::int64_t> out;
    const auto floor_s = [](std::int64_t ns) { return ns / 1'000'000'000 - (ns % 1'000'000'000 < 0 ? 1 : 0); };
    std::int64_t at = floor_s(first_) / step_s_ * step_s_;
    for (; at <= floor_s(last_ns) && out.size() < 16; at += step_s_) {
      if (at > floor_s(first_) || (first_ % 1'000'000'000 == 0 && at == first_ / 1'000'000'000)) out.push_back(at);
    }
    return out;
  }

  std::string text(std::int64_t seconds) const {
    std::string whole = time_text(seconds * 1'000'000'000);  // "2024-05-01 12:00:07Z"
    if (whole.size() < 20) return whole;
    if (step_s_ >= 86400) return whole.substr(0, 10);
    return whole.substr(11, step_s_ < 60 ? 8 : 5);
  }

 private:
  std::int64_t first_;
  double span_ = 0;
  std::int64_t step_s_ = 1;
};

std::pair<double, double> range_of(const AxisPage::Series& series) {
  const auto [low, high] = std::ranges::minmax_element(series.points, {}, &AxisPage::Point::value);
  return {static_cast<double>(low->value), static_cast<double>(high->value)};
}

class AxisPanel : ChartPanel {
 public:
  AxisPanel(const AxisPage& page, const AxisPage::Series& series, Canvas& canvas, double y, double height)
      : ChartPanel(canvas, series.unit, y, height, range_of(series)),
        page_(page),
        series_(series),
        clock_(page.first_ns, page.last_ns) {
    const std::int64_t growth = growth_between(series.points.front().value, series.points.back().value);
    color_ = growth > 0 ? kGrow.c700 : growth < 0 ? kShrink.c700 : kInk2;
  }

  void draw(double y) {
    head(y);
    grid();
    lines();
    dots();
  }

  /// Below the lowest panel.
  void times() {
    const std::vector<std::int64_t> ticks = clock_.ticks(page_.last_ns);
    if (ticks.size() < 2) {
      canvas_.text(clock_.x(page_.first_ns), chart_.y1 + 10, time_text(page_.first_ns).substr(11), {6.4}, kInk2,
                   page_.first_ns == page_.last_ns ? Align::centre : Align::left);
      return;
    }
    for (const std::int64_t tick : ticks) {
      const double at = clock_.x(tick * 1'000'000'000);
      const Align align = at > kX1 - 10 ? Align::right : at < kX0 + 10 ? Align::left : Align::centre;
      canvas_.text(at, chart_.y1 + 10, clock_.text(tick), {6.4}, kInk2, align);
    }
  }

 private:
  Point at(const AxisPage::Point& point) const {
    return {clock_.x(point.time_ns), y(static_cast<double>(point.value))};
  }

  void head(double y) {
    const std::int64_t before = series_.points.front().value, after = series_.points.back().value;
    const double right = series_.points.size() > 1
                             ? growth_head(kRight, y, before, after, growth_between(before, after))
                             : kRight - canvas_.text(kRight, y + 9, q_.value(after), {8}, kInk2, Align::right) - 10;
    std::string what = printable(metric_title(series_.metric));
    if (!series_.remark.empty()) what += "  \u00b7  " + printable(series_.remark);
    const TextStyle style{7};
    const double most = (right - kLeft) * 0.6;
    const double name =
        canvas_.text_within(kLeft, y + 9, printable(series_.name), {9, FontWeight::semibold}, kInk, most);
    canvas_.text_cut(kLeft + name + 8, y + 9, what, style, kInk3, right - kLeft - name - 8);
  }

  void grid() {
    for (const std::int64_t tick : clock_.ticks(page_.last_ns))
      chart_.upright(canvas_, clock_.x(tick * 1'000'000'000), {kLine, 0.4});
    value_axis();
  }

  /// Of what falls on one point of the page the lowest and the highest.
  void lines() {
    std::vector<Point> marks;
    for (const AxisPage::Point& point : series_.points) {
      const Point now = at(point);
      const std::size_t n = marks.size();
      if (n >= 2 && now.x - marks[n - 2].x < kPointsApart) {
        // marks[n - 2] and marks[n - 1] are the ends of one column already.
        marks[n - 2].y = std::min(marks[n - 2].y, now.y);
        marks[n - 1].y = std::max(marks[n - 1].y, now.y);
        continue;
      }
      marks.push_back(now);
    }
    if (marks.size() < 2) return;
    Path path;
    path.move(marks.front());
    for (std::size_t i = 1; i < marks.size(); ++i) path.line(marks[i]);
    canvas_.painter().stroke(path, {color_, 1.3, 0, 0, true});
  }

  void dots() {
    if (series_.points.size() > kDots) return;
    for (const AxisPage::Point& point : series_.points) canvas_.dot(at(point), kDot, color_, {color_, 1});
  }

  const AxisPage& page_;
  const AxisPage::Series& series_;
  Clock clock_;
  Color color_ = kInk2;
};

}  // namespace

PageText text_of(const CountersPage& page) {
  const std::size_t rows = page.counters.rows.size();
  return {rows == 1 ? "1 counter over time" : std::to_string(rows) + " counters over time", "Which counters grow?"};
}

double draw_page(const CountersPage& page, Canvas& canvas, double top, double bottom) {
  const std::vector<CounterRow>& rows = page.counters.rows;
  const double room = bottom - 14 - top;
  const std::size_t most = static_cast<std::size_t>(room / (kLeastHeight + ChartPanel::kGap));
  const std::size_t shown = std::min(rows.size(), most);
  const double height =
      shown == 0 ? 0 : std::min(ChartPanel::kMostHeight, room / static_cast<double>(shown) - ChartPanel::kGap);
  double y = top;
  for (std::size_t i = 0; i < shown; ++i) {
    CounterPanel(page.counters, rows[i], canvas, y, height).draw(y, i + 1 == shown);
    y += height + ChartPanel::kGap;
  }
  std::string note = page.counters.axis.note;
  if (shown < rows.size()) {
    if (!note.empty()) note += "; ";
    note += std::to_string(rows.size() - shown) + " more counters are not drawn";
  }
  if (note.empty()) return y;
  canvas.text_cut(kLeft, y + 4, printable(note), {7}, kInk3, kWidth);
  return y + 10;
}

PageText text_of(const AxisPage& page) {
  return {
      std::to_string(page.all_series) + (page.all_series == 1 ? " series on a time axis" : " series on one time axis"),
      "What grew when?"};
}

double draw_page(const AxisPage& page, Canvas& canvas, double top, double bottom) {
  const std::size_t shown = std::min(page.series.size(), kMostAxisPanels);
  const std::size_t notes = std::min(page.notes.size(), kMostNotes);
  const double foot = 14 + 16 + kNoteLine * static_cast<double>(notes);
  const double room = bottom - foot - top;
  const double height =
      shown == 0 ? 0 : std::min(ChartPanel::kMostHeight, room / static_cast<double>(shown) - ChartPanel::kGap);
  double y = top;
  for (std::size_t i = 0; i < shown; ++i) {
    AxisPanel panel(page, page.series[i], canvas, y, height);
    panel.draw(y);
    if (i + 1 == shown) panel.times();
    y += height + ChartPanel::kGap;
  }
  y += 6;
  const std::string span = page.first_ns == page.last_ns ? time_text(page.first_ns)
                                                         : time_text(page.first_ns) + " to " + time_text(page.last_ns);
  canvas.text(kX0, y, span, {7}, kInk2);
  y += 4;
  for (std::size_t i = 0; i < notes; ++i) {
    y += kNoteLine;
    const bool cut = i + 1 == kMostNotes && page.notes.size() > kMostNotes;
    canvas.text_cut(kLeft, y + 2, cut ? std::to_string(page.notes.size() - i) + " more" : printable(page.notes[i]), {7},
                    kInk3, kWidth);
  }
  return y + 6;
}

}  // namespace snapdiff::render
