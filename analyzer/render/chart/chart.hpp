#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/paint/text.hpp"

/// The common parts of charts of values over snapshots or time.
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

/// Number of a tick, without the unit.
std::string tick_text(double value, const Axis& axis);

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

}  // namespace snapdiff::render
