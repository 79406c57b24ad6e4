#include "analyzer/render/chart/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

constexpr std::size_t kMostTicks = 12;
constexpr std::size_t kMostDots = 40;

/// "GiB"; "" for counts.
std::string unit_of(const Axis& axis, bool bytes) {
  if (!bytes) return "";
  const std::string text = size_text(static_cast<std::int64_t>(std::min(axis.unit, 9e18)));
  return text.substr(text.find(' ') + 1);
}

}  // namespace

void Chart::value_axis(Canvas& canvas, const ValueScale& scale, bool bytes,
                       const std::function<double(double)>& y_of) const {
  const int ticks = static_cast<int>(std::lround((scale.top - scale.bottom) / scale.step));
  for (int t = 0; t <= ticks && t < static_cast<int>(kMostTicks); ++t) {
    const double value = scale.bottom + t * scale.step;
    const double at = y_of(value * scale.axis.unit);
    canvas.rule(x0, x1, at, t == 0 ? kInk3 : kLine, 0.5);
    std::string text = tick_text(value, {scale.top, scale.step, scale.axis.unit});
    if (t == ticks) text.append(bytes ? " " : "").append(unit_of(scale.axis, bytes));
    canvas.text(x0 - 5, at + drop, text, {letters}, kInk2, Align::right);
  }
}

void Chart::snapshot_numbers(Canvas& canvas, std::size_t count, std::size_t first, std::size_t most, double below,
                             const std::function<double(std::size_t)>& x_of) const {
  const std::size_t every = (count + most - 1) / most;
  for (std::size_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    if (!last && (i % every != 0 || count - 1 - i < every)) continue;
    canvas.text(x_of(i), y1 + below, std::to_string(first + i), {letters}, kInk2, Align::centre);
  }
}

void Chart::upright(Canvas& canvas, double x, const Stroke& stroke) const {
  canvas.painter().stroke(Path().move({x, y0}).line({x, y1}), stroke);
}

void draw_value_line(Canvas& canvas, std::span<const Point> points, Color color, double width,
                     const std::function<bool(std::size_t)>& begins) {
  Path path;
  for (std::size_t i = 0; i < points.size(); ++i) i == 0 || begins(i) ? path.move(points[i]) : path.line(points[i]);
  canvas.painter().stroke(path, {color, width, 0, 0, true});
  if (points.size() > kMostDots) return;
  for (const Point& point : points) canvas.dot(point, 2, kPaper, {color, 1.1});
}

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

std::string tick_text(double value, const Axis& axis) {
  const int digits = axis.step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(axis.step) - 1e-9));
  char text[48] = {};
  std::snprintf(text, sizeof text, "%.*f", std::min(digits, 6), value);
  return text;
}

}  // namespace snapdiff::render
