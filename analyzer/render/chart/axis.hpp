#pragma once

#include <string>

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

}  // namespace snapdiff::render
