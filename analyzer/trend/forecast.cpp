#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "analyzer/trend/shapes.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::trend {
namespace {

constexpr double kBand = 2;  // standard errors

/// Constant, line and square of least squares, with t from 0 at the last value backwards.
struct Curve {
  double level = 0, slope = 0, bend = 0;
  double bend_error = 0;
};

Curve curve_of(std::span<const double> values) {
  // Normal equations of 1, t, t^2 over -(n - 1) .. 0, made orthogonal around the middle.
  const auto n = static_cast<double>(values.size());
  const double middle = -(n - 1) / 2, spread = n * (n * n - 1) / 12;
  double mean = 0, ty = 0, qy = 0, qq = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double t = static_cast<double>(i) + middle;
    const double q = t * t - spread / n;
    mean += values[i] / n;
    ty += t * values[i];
    qy += q * values[i];
    qq += q * q;
  }
  const double slope = ty / spread, bend = qq > 0 ? qy / qq : 0;
  double squares = 0, products = 0, before = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double t = static_cast<double>(i) + middle;
    const double left = values[i] - mean - slope * t - bend * (t * t - spread / n);
    squares += left * left;
    products += left * std::exchange(before, left);
  }
  // Values that depend on those before them scatter as fewer ones: as in the band of a slope.
  const double depends = squares > 0 ? std::clamp(products / squares + 2 / n, 0.0, 0.9) : 0;
  const double end = -middle;
  return {mean + slope * end + bend * (end * end - spread / n), slope + 2 * bend * end, bend,
          qq > 0 && n > 3 ? std::sqrt(squares / (n - 3) / qq * (1 + depends) / (1 - depends)) : 0};
}

/// Steps until a climb of this slope and bend has risen by `left`.
double steps_to(double left, double slope, double bend) {
  if (bend <= 0) return left / slope;
  return 2 * left / (slope + std::sqrt(slope * slope + 4 * bend * left));
}

}  // namespace

Forecast forecast(std::span<const double> climbing, std::span<const double> total, const Verdict& verdict,
                  double limit) {
  using Kind = Forecast::Kind;
  const std::size_t n = total.size();
  if (n == 0) return {};
  if (total.back() >= limit) return {Kind::reached};
  if (n < kJudgedFrom) return {};
  if (climbing.size() != n || !(verdict.slope_low > 0)) return {Kind::never};
  const std::size_t half = n / 2;
  double rest = 0, scatter = 0;
  for (std::size_t i = n - half; i < n; ++i) rest += (total[i] - climbing[i]) / static_cast<double>(half);
  const double middle = static_cast<double>(n - 1) / 2;
  const double mean = mean_of(climbing);
  const Curve curve = curve_of(climbing);
  const bool faster = curve.bend > kBand * curve.bend_error;
  for (std::size_t i = n - half; i < n; ++i) {
    const double t = static_cast<double>(i);
    const double back = t - static_cast<double>(n - 1);
    const double fitted =
        faster ? curve.level + curve.slope * back + curve.bend * back * back : mean + verdict.slope * (t - middle);
    scatter += (total[i] - rest - fitted) * (total[i] - rest - fitted) / static_cast<double>(half);
  }
  const double level = faster ? curve.level : mean + verdict.slope * middle;
  const double left = limit - rest - level;
  const double error = kBand * std::sqrt(scatter);
  const double near = std::max(left - error, 0.0), far = std::max(left + error, 0.0);
  Forecast out{Kind::ahead};
  if (faster) {
    out.steps = steps_to(std::max(left, 0.0), curve.slope, curve.bend);
    // Between a line and an exponential, whose rate is that of the middle.
    const double rate = 2 * (curve.bend + kBand * curve.bend_error) / verdict.slope;
    const double pace = std::max(curve.slope, verdict.slope * std::exp(rate * middle));
    out.soonest = std::log1p(near * rate / pace) / rate;
    out.latest = far / curve.slope;
  } else {
    out.steps = std::max(left, 0.0) / verdict.slope;
    out.soonest = near / verdict.slope_high;
    out.latest = far / verdict.slope_low;
  }
  return out;
}

}  // namespace snapdiff::trend
