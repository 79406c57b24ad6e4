#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/paint/text.hpp"

/// What charts of values over snapshots or time have in common.
namespace snapdiff::render {

/// A scale from zero: ticks at 1, 2 or 5 times a power of ten of the largest value's unit, at most five.
struct Axis {
  double top = 1, step = 1;  ///< in units
  double unit = 1;
};
Axis axis_for(double most, bool bytes);

/// A scale for lines: from zero, but from a tick below `low` where all values lie far from zero, since a climb of
/// megabytes would not be seen in gigabytes. bottom, top and step in units of `axis`.
struct ValueScale {
  Axis axis;
  double bottom = 0, top = 1, step = 1;
};
ValueScale scale_for(double low, double high, bool bytes);

/// Number of a tick, without the unit.
std::string tick_text(double value, const Axis& axis);

/// "GiB"; "" for counts.
std::string unit_of(const Axis& axis, bool bytes);

/// Where a chart lies on its page, and how its axes are lettered.
struct Chart {
  double x0, x1, y0, y1;  ///< edges; y1 is the lower one
  double letters = 7;     ///< size of the numbers
  double drop = 2.4;      ///< from a tick down to the baseline of its number

  /// A rule and a number at each tick of the vertical axis, the unit at the highest; `y_of` a value.
  void value_axis(Canvas& canvas, const ValueScale& scale, bool bytes, const std::function<double(double)>& y_of) const;
  /// The numbers of `count` snapshots from `first` on below the chart, about `most` of them.
  void snapshot_numbers(Canvas& canvas, std::size_t count, std::size_t first, std::size_t most, double below,
                        const std::function<double(std::size_t)>& x_of) const;
  /// From the upper to the lower edge.
  void upright(Canvas& canvas, double x, const Stroke& stroke) const;
};

/// A line through the points, which starts again where `begins`; with a dot at each where there are few.
void draw_value_line(Canvas& canvas, std::span<const Point> points, Color color, double width,
                     const std::function<bool(std::size_t)>& begins);

/// One of several charts below each other: a head in a line, then values over time.
class ChartPanel {
 public:
  static constexpr double kX0 = kLeft + 46, kX1 = kRight;
  static constexpr double kMostHeight = 150, kGap = 16;
  /// Values that fall on one point of the page are drawn as one.
  static constexpr double kPointsApart = 1.0;

 protected:
  ChartPanel(Canvas& canvas, std::string_view unit, double y, double height, double low, double high);

  double y(double value) const;
  void value_axis();
  /// "+1 MiB" and "1 MiB → 2 MiB" at the right end of the head; returns where they begin.
  double growth_head(double right, double y, std::int64_t before, std::int64_t after, std::int64_t growth);

  Canvas& canvas_;
  Quantity q_;
  Chart chart_;
  ValueScale scale_;
};

}  // namespace snapdiff::render
