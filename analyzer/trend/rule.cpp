#include "analyzer/trend/rule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace snapdiff::trend {

namespace {

constexpr double kLargeShare = .05;  // of the mean

/// From an earlier high. `offset` is taken from the values, again and again.
double largest_fall(std::span<const double> values, std::span<const double> offset) {
  double high = values[0] - offset[0];
  double fall = 0;
  for (std::size_t i = 0, phase = 0; i < values.size(); ++i, phase = phase + 1 == offset.size() ? 0 : phase + 1) {
    const double value = values[i] - offset[phase];
    high = std::max(high, value);
    fall = std::max(fall, high - value);
  }
  return fall;
}

/// With a line and a cycle of at least three whole periods as the best shape, what the cycle takes
/// back each time undoes no climb: its phases' mean distances from the line are taken out first.
double fall_beside_cycle(std::span<const double> values, const Fit& fit) {
  std::array<double, kLongestCycle> offset{};
  const std::size_t period = fit.cycle_period;
  const double middle = (static_cast<double>(values.size()) - 1) / 2;
  for (std::size_t phase = 0; phase < period; ++phase) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = phase; i < values.size(); i += period, ++count) {
      sum += values[i] - fit.mean - fit.slope * (static_cast<double>(i) - middle);
    }
    offset[phase] = sum / static_cast<double>(count);
  }
  return largest_fall(values, std::span(offset).first(period));
}

/// From 16 values on a series may fall deep and still climb as a whole: minima and maxima of its
/// thirds both go up.
bool thirds_climb(std::span<const double> values, double slope) {
  const std::size_t n = values.size();
  if (n < 16) return false;
  const double wanted = .35 * slope * static_cast<double>(n) / 3;
  double least = 0, most = 0;
  for (std::size_t third = 0; third < 3; ++third) {
    const auto part = values.subspan(third * n / 3, (third + 1) * n / 3 - third * n / 3);
    const auto [low, high] = std::minmax_element(part.begin(), part.end());
    if (third > 0 && (*low - least < wanted || *high - most < wanted)) return false;
    least = *low;
    most = *high;
  }
  return true;
}

/// t of the quadratic term beside constant and line.
double quadratic_t(std::span<const double> values, const Fit& fit) {
  const std::size_t n = values.size();
  if (n < 4) return 0;
  const auto size = static_cast<double>(n);
  const double mean_square = (size * size - 1) / 12;
  double zy = 0, zz = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) - (size - 1) / 2;
    const double z = t * t - mean_square;  // orthogonal to constant and line
    zy += z * (values[i] - fit.mean);
    zz += z * z;
  }
  const double freedom = size - 3;
  const double rss = std::max(fit.line_rss - zy * zy / zz, freedom * fit.noise_floor);
  return zy / zz / std::sqrt(rss / freedom / zz);
}

/// Shapes whose residuals are dependent: there the quadratic t is not a t.
bool dependent(Shape shape) {
  return shape == Shape::drifting_walk || shape == Shape::never_back || shape == Shape::line_autoregressive_8 ||
         shape == Shape::line_cycle || shape == Shape::line_wave;
}

void weigh(const Fit& fit, Findings& found) {
  double most = fit.shapes.front().log_odds;
  for (const Evidence& shape : fit.shapes) {
    if (shape.log_odds > most || &shape == &fit.shapes.front()) {
      most = shape.log_odds;
      found.best = shape.shape;
    }
  }
  double sum = 0;
  double best_warm_up = -1;
  for (const Evidence& shape : fit.shapes) {
    const double odds = std::exp(shape.log_odds - most);
    sum += odds;
    found.p[static_cast<std::size_t>(shape.group)] += odds;
    const bool wanders = shape.shape == Shape::walk || shape.shape == Shape::drifting_walk ||
                         shape.shape == Shape::never_back || shape.shape == Shape::autoregressive_8 ||
                         shape.shape == Shape::line_autoregressive_8;
    if (wanders) found.wander += odds;
    if (shape.group == Group::warm_up && odds > best_warm_up) {
      best_warm_up = odds;
      found.warm_up = shape.coefficient;
    }
  }
  for (double& p : found.p) p /= sum;
  found.wander /= sum;
}

}  // namespace

std::size_t remove_spikes(std::span<double> values, double noise_variance) {
  const std::size_t n = values.size();
  if (n < 8) return 0;
  thread_local std::vector<double> changes;
  changes.clear();
  for (std::size_t i = 1; i < n; ++i) changes.push_back(std::abs(values[i] - values[i - 1]));
  const auto middle = changes.begin() + static_cast<std::ptrdiff_t>(changes.size() / 2);  // the upper median
  std::nth_element(changes.begin(), middle, changes.end());
  const double scale = std::max(*middle, std::sqrt(2 * noise_variance));
  std::size_t count = 0;
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double before = values[i] - values[i - 1];
    const double after = values[i] - values[i + 1];
    const bool far = std::min(before, after) > 6 * scale || std::max(before, after) < -6 * scale;
    if (!far || std::abs(values[i - 1] - values[i + 1]) >= 3 * scale) continue;
    values[i] = (values[i - 1] + values[i + 1]) / 2;
    ++count;
  }
  return count;
}

Findings find_out(std::span<const double> values, double noise_variance, double floor, Fit& fit) {
  fit_shapes(values, noise_variance, fit);
  Findings found;
  found.values = values;
  found.fit = &fit;
  found.floor = floor;
  weigh(fit, found);
  found.rise = fit.slope * static_cast<double>(values.size() - 1);
  found.large = std::abs(found.rise) >= std::max(floor, kLargeShare * std::abs(fit.mean)) && found.rise != 0;
  constexpr std::array<double, 1> kNothing{};
  found.largest_fall = largest_fall(values, kNothing);
  found.kept = found.largest_fall <= found.rise / 2 || thirds_climb(values, fit.slope);
  const bool cycles = found.best == Shape::line_cycle && values.size() >= 3 * fit.cycle_period;
  if (!found.kept && cycles && fall_beside_cycle(values, fit) <= found.rise / 2) {
    found.kept = true;
    found.cycle = fit.cycle_period;
  }
  found.late_slope = slope_of(values.last(values.size() / 2));
  const double pace = found.late_slope / fit.slope;
  found.slowing = quadratic_t(values, fit) < -2 && pace < (dependent(found.best) ? .35 : .65);
  return found;
}

}  // namespace snapdiff::trend
