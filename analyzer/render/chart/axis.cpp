#include "analyzer/render/chart/axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

/// Above this share of the highest value the lowest is far from zero.
constexpr double kFarFromZero = 0.6;

}  // namespace

Axis axis_for(double most, bool bytes) {
  Axis axis;
  if (most <= 0) return axis;
  if (bytes) {
    while (most / axis.unit >= 999.5) axis.unit *= 1024;
  }
  const double value = most / axis.unit;
  double step = std::pow(10, std::floor(std::log10(value)) - 1);
  const std::array<double, 3> factors = {2, 2.5, 2};
  for (std::size_t i = 0; value / step > 5; ++i) step *= factors[i % 3];
  axis.step = step;
  axis.top = std::ceil(value / step - 1e-9) * step;
  return axis;
}

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

std::string tick_text(double value, const Axis& axis) {
  const int digits = axis.step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(axis.step) - 1e-9));
  char text[48] = {};
  std::snprintf(text, sizeof text, "%.*f", std::min(digits, 6), value);
  return text;
}

std::string unit_of(const Axis& axis, bool bytes) {
  if (!bytes) return "";
  const std::string text = size_text(static_cast<std::int64_t>(std::min(axis.unit, 9e18)));
  return text.substr(text.find(' ') + 1);
}

}  // namespace snapdiff::render
