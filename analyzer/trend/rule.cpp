#include "analyzer/trend/rule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace snapdiff::trend {

namespace {

constexpr double kLargeShare = .05;  // of the mean

constexpr std::size_t kStairs = 3;  // jumps: two may be any two
/// Jumps and distances that differ by no more than this factor are alike. Jumps of a table that doubles differ by four.
constexpr double kAlike = 2;

/// Of the slope. What rises slower than this in its last half has levelled off, whatever the curvature's test says:
/// where steps add up their errors, a series bends by chance as far as by saturation.
constexpr double kLevelledOff = .25;

// Of a sampled series (README.md, "Sampling"), in standard errors of its rise: what chance alone may show, and what no
// population of constant size shows, whatever part of it was replaced. Beyond that, from kWatched values on, only a
// size that itself is a random walk is left beside a rise, and kSureBeyondChance are odds enough.
constexpr double kChance = 2;
constexpr double kBeyondChance = 4;
constexpr double kSureBeyondChance = .75;
constexpr std::size_t kWatched = 16;

/// From an earlier high.
double largest_fall(std::span<const double> values) {
  double high = values[0];
  double fall = 0;
  for (const double value : values) {
    high = std::max(high, value);
    fall = std::max(fall, high - value);
  }
  return fall;
}

/// With a line and a cycle of at least three whole periods as the best shape, what the cycle takes
/// back each time undoes no climb: its phases' mean distances from the line are taken out first.
void take_out_cycle(const Fit& fit, double slope, std::vector<double>& residual) {
  const Tables::Cycle& cycle = fit.tables->cycles[fit.cycle_period - 2];
  std::array<double, kLongestCycle> offset{};
  for (std::size_t i = 0; i < residual.size(); ++i)
    offset[cycle.phase[i]] += residual[i] + (fit.slope - slope) * fit.tables->t[i];
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const std::size_t phase = cycle.phase[i];
    residual[i] += (fit.slope - slope) * fit.tables->t[i] - offset[phase] * cycle.inverse[phase];
  }
}

double fall_beside_cycle(std::span<const double> values, const Fit& fit) {
  thread_local std::vector<double> without;
  without.clear();
  for (std::size_t i = 0; i < values.size(); ++i)
    without.push_back(values[i] - fit.mean - fit.slope * fit.tables->t[i]);
  take_out_cycle(fit, fit.slope, without);
  for (std::size_t i = 0; i < values.size(); ++i) without[i] += fit.slope * fit.tables->t[i];
  return largest_fall(without);
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

/// Of a long series each value may fall far and the climb be plain: its means over stretches are looked at.
bool stretches_climb(std::span<const double> values, double rise) {
  constexpr std::size_t kStretches = 16;
  if (values.size() < kLong) return false;
  return largest_fall(means_of(values, kStretches)) <= rise / 2;
}

/// t of the quadratic term beside constant and line.
double quadratic_t(std::span<const double> values, const Fit& fit) {
  const std::size_t n = values.size();
  if (n < 4) return 0;
  double zy = 0;
  for (std::size_t i = 0; i < n; ++i) zy += fit.tables->curve[i] * (values[i] - fit.mean);
  const double freedom = static_cast<double>(n) - 3;
  const double rss = std::max(fit.line_rss - zy * zy, freedom * fit.noise_floor);
  return zy / std::sqrt(rss / freedom);
}

/// t of a line through the steps: where errors add up from step to step, these are independent and the values are not.
double slowing_t(std::span<const double> values, const Fit& fit) {
  const std::size_t steps = values.size() - 1;
  if (steps < 4) return 0;
  const std::vector<double>& gap = fit.tables->gap;
  const std::vector<double>& t = fit.tables->t;
  double spread = 0, td = 0, squares = 0;
  // A step of twice the distance has twice the variance; the middles of all steps lie around 0 together.
  double middle = 0, length = 0;
  for (std::size_t i = 1; i <= steps; ++i) {
    middle += gap[i] * (t[i] + t[i - 1]) / 2;
    length += gap[i];
  }
  middle /= length;
  for (std::size_t i = 1; i <= steps; ++i) {
    const double at = (t[i] + t[i - 1]) / 2 - middle;
    const double pace = (values[i] - values[i - 1]) / gap[i] - fit.mean_step;
    spread += gap[i] * at * at;
    td += gap[i] * at * pace;
    squares += gap[i] * pace * pace;
  }
  const double rss = squares - td * td / spread;
  return rss > 0 ? td / std::sqrt(spread * rss / (static_cast<double>(steps) - 2)) : 0;
}

bool adds_up(Shape shape) { return shape == Shape::drifting_walk || shape == Shape::never_back; }

/// Shapes whose level drifts: a rise of theirs may be chance.
bool wanders(Shape shape) {
  return adds_up(shape) || shape == Shape::walk || shape == Shape::autoregressive_8 ||
         shape == Shape::line_autoregressive_8;
}

/// Shapes whose residuals are dependent: there the quadratic t is not a t.
bool dependent(Shape shape) {
  return adds_up(shape) || shape == Shape::line_autoregressive_8 || shape == Shape::line_cycle ||
         shape == Shape::line_wave;
}

/// `pace`: of the last half, as a share of the slope.
bool slows_down(std::span<const double> values, const Fit& fit, Shape best, double pace) {
  if (values.size() >= 8 && pace < kLevelledOff) return true;
  if (pace >= kKeepsPace) return false;
  if (adds_up(best) && slowing_t(values, fit) < -2) return true;
  return quadratic_t(values, fit) < -2 && pace < (dependent(best) ? .35 : kKeepsPace);
}

/// Three jumps of about one height at about one distance, and before the first and since the last no longer than from
/// one to the next: the next one is due, and nothing is level.
bool are_stairs(std::span<const double> values, const Fit& fit) {
  const std::vector<std::size_t>& cuts = fit.cuts;
  if (cuts.size() != kStairs) return false;
  const std::vector<double>& place = fit.tables->place;
  std::array<double, kStairs> height{}, length{};
  double before = 0;
  for (std::size_t i = 0; i <= kStairs; ++i) {
    const std::size_t first = i == 0 ? 0 : cuts[i - 1];
    const std::size_t end = i == kStairs ? values.size() : cuts[i];
    const double level = mean_of(values.subspan(first, end - first));
    if (i > 0) {
      height[i - 1] = level - before;
      length[i - 1] = (i == kStairs ? place.back() + 1 : place[end]) - place[first];
    }
    before = level;
  }
  const auto [low, high] = std::minmax_element(height.begin(), height.end());
  const auto [near, far] = std::minmax(length[0], length[1]);
  return *low > 0 && *high <= kAlike * *low && far <= kAlike * near && std::max(place[cuts[0]], length[2]) <= far;
}

void weigh(const Fit& fit, Findings& found) {
  double most = fit.shapes.front().log_odds;
  for (const Evidence& shape : fit.shapes) {
    if (shape.log_odds > most || &shape == &fit.shapes.front()) {
      most = shape.log_odds;
      found.best = shape.shape;
      found.best_coefficient = shape.coefficient;
    }
  }
  double sum = 0;
  double best_warm_up = -1;
  for (const Evidence& shape : fit.shapes) {
    const double odds = std::exp(shape.log_odds - most);
    sum += odds;
    found.p[static_cast<std::size_t>(shape.group)] += odds;
    if (wanders(shape.shape)) found.wander += odds;
    if (shape.group == Group::warm_up && odds > best_warm_up) {
      best_warm_up = odds;
      found.warm_up = shape.coefficient;
    }
  }
  for (double& p : found.p) p /= sum;
  found.wander /= sum;
  double& steps = found.p[static_cast<std::size_t>(Group::steps)];
  if (steps == 0 || !are_stairs(found.values, fit)) return;
  found.stairs = steps > found.p_of(Group::climbing);
  found.p[static_cast<std::size_t>(Group::climbing)] += std::exchange(steps, 0);
}

/// What sampling says of a rise: each sample that comes or goes adds the variance of one to the difference of both
/// ends, and with nothing in common between the ends it is that of all samples of both.
void weigh_sampling(double sample, Findings& found) {
  const std::span<const double> values = found.values;
  const double both_ends = 2 * found.fit->mean, moved = moved_of(values);
  found.by_chance = found.rise < kChance * std::sqrt(sample * std::min(moved, both_ends));
  const bool beyond = found.rise >= kBeyondChance * std::sqrt(sample * both_ends);
  if (beyond && values.size() >= kWatched) found.wanted = kSureBeyondChance;
}

}  // namespace

double moved_of(std::span<const double> values) {
  double moved = 0;
  for (std::size_t i = 1; i < values.size(); ++i) moved += std::abs(values[i] - values[i - 1]);
  return moved;
}

Climb climb_of(const Findings& found) {
  const Fit& fit = *found.fit;
  const std::vector<double>& t = fit.tables->t;
  const std::size_t n = found.values.size();
  thread_local std::vector<double> residual;
  residual.clear();
  for (std::size_t i = 0; i < n; ++i) residual.push_back(found.values[i] - fit.mean - fit.slope * t[i]);
  Climb out{{}, fit.slope, fit.tables->t_spread, static_cast<double>(n) - 2};
  if (found.best == Shape::line_cycle) {
    const Tables::Cycle& cycle = fit.tables->cycles[fit.cycle_period - 2];
    take_out_cycle(fit, found.best_coefficient, residual);
    out = {{}, found.best_coefficient, cycle.t_spread, static_cast<double>(n - fit.cycle_period) - 1};
  } else if (found.best == Shape::line_wave) {
    const Tables::Wave& wave = fit.tables->waves[fit.wave];
    for (std::size_t i = 0; i < n; ++i) residual[i] += (fit.slope - found.best_coefficient) * t[i];
    for (const std::vector<double>* base : {&wave.first, &wave.second}) {
      const double share = std::inner_product(residual.begin(), residual.end(), base->begin(), 0.0);
      for (std::size_t i = 0; i < n; ++i) residual[i] -= share * (*base)[i];
    }
    out = {{}, found.best_coefficient, wave.line_squares, static_cast<double>(n) - 4};
  } else if (found.best == Shape::flat_then_line) {
    double mean = 0;
    const auto risen = [&](std::size_t i) {
      return found.best_coefficient * std::max(0.0, fit.tables->place[i] - fit.tables->place[fit.bend]);
    };
    for (std::size_t i = 0; i < n; ++i) mean += risen(i) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) residual[i] = found.values[i] - fit.mean - (risen(i) - mean);
    out.freedom -= 1;
  }
  out.residual = residual;
  return out;
}

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

Findings find_out(std::span<const double> values, const Tables& tables, double stretch, double noise_variance,
                  double sample, double floor, Fit& fit) {
  fit_shapes(values, tables, noise_variance, sample > 0 && values.size() >= kWatched, fit);
  Findings found;
  found.values = values;
  found.fit = &fit;
  found.floor = floor;
  found.stretch = stretch;
  weigh(fit, found);
  found.slope = fit.slope / stretch;
  found.rise = fit.slope * static_cast<double>(values.size() - 1);
  found.large = std::abs(found.rise) >= std::max(floor, kLargeShare * std::abs(fit.mean)) && found.rise != 0;
  found.matters = floor > 0 ? std::abs(found.rise) >= floor : found.large;
  found.largest_fall = largest_fall(values);
  found.kept =
      found.largest_fall <= found.rise / 2 || thirds_climb(values, fit.slope) || stretches_climb(values, found.rise);
  const bool cycles = found.best == Shape::line_cycle && values.size() >= 3 * fit.cycle_period;
  if (!found.kept && cycles && fall_beside_cycle(values, fit) <= found.rise / 2) {
    found.kept = true;
    found.cycle = fit.cycle_period;
  }
  const std::size_t half = values.size() / 2;
  const double late = slope_of(values.last(half), std::span(tables.place).last(half));
  found.late_slope = late / stretch;
  found.slowing = slows_down(values, fit, found.best, late / fit.slope);
  found.sampled = sample > 0;
  if (found.sampled) weigh_sampling(sample, found);
  return found;
}

}  // namespace snapdiff::trend
