#include <algorithm>
#include <utility>

#include "analyzer/render/chart/chart.hpp"
#include "analyzer/render/memory/memory_pages.hpp"
#include "snapdiff/trend.hpp"

namespace snapdiff::render {
namespace {

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
      : ChartPanel(canvas, row.unit, y, height, range_of(row).first, range_of(row).second),
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
      for (double value = 0; value <= span * 1.0001; value += scale.step) {
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

}  // namespace snapdiff::render
