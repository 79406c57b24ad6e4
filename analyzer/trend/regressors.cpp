#include "analyzer/trend/shapes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>

namespace snapdiff::trend {

namespace {

// Time constants and periods as shares of the window: coarse enough to be cheap, fine enough that a
// shape between two of them still beats a line by several units of evidence (README.md).
constexpr std::array<double, 5> kExponentialShares{.05, .1, .16, .24, .34};
// Half a window and more: a warm-up of .5 lies as far from .34 as from a line.
constexpr std::array<double, 4> kSlowExponentialShares{.41, .5, .61, .75};
constexpr std::array<double, 3> kLogarithmShares{.02, .05, .14};
constexpr std::array<double, 7> kWaveShares{1, .8, .65, .5, .4, .32, .25};

/// Values of all tables that a thread keeps, which need 440 bytes each: every length of a series of 250. A caller that
/// tries thousands of lengths must not keep them all.
constexpr std::size_t kMostValues = 32'000;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void centre(std::vector<double>& v) {
  const double mean = mean_of(v);
  for (double& x : v) x -= mean;
}

void subtract(std::vector<double>& v, const std::vector<double>& unit) {
  const double share = dot(v, unit);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] -= share * unit[i];
}

/// To length 1, or to zero when nothing is left: sin(pi i) is only rounding.
void normalise(std::vector<double>& v, double vanishing) {
  const double length = std::sqrt(dot(v, v));
  const double scale = length > vanishing ? 1 / length : 0;
  for (double& x : v) x *= scale;
}

}  // namespace

Tables::Tables(std::span<const double> places)
    : n(places.size()), place(places.begin(), places.end()), gap(places.size(), 0), inverse(places.size() + 1, 0) {
  for (std::size_t k = 1; k <= n; ++k) inverse[k] = 1 / static_cast<double>(k);
  place_sum.assign(n + 1, 0);
  place_squares.assign(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    place_sum[i + 1] = place_sum[i] + place[i];
    place_squares[i + 1] = place_squares[i] + place[i] * place[i];
    if (i == 0) continue;
    gap[i] = place[i] - place[i - 1];
    even = even && gap[i] == 1;
  }
  const double mean = mean_of(place);
  for (std::size_t i = 0; i < n; ++i) {
    t.push_back(place[i] - mean);
    t_spread += t[i] * t[i];
    if (i > 0 && !even) log_gaps += std::log(gap[i]);
  }
  add_curves();
  if (n >= 8) add_waves();
  add_cycles();
}

void Tables::add_curves() {
  const auto size = static_cast<double>(n);
  const auto unit = [&](auto value_at) {
    std::vector<double> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = value_at(place[i]);
    centre(v);
    normalise(v, 0);
    return v;
  };
  const auto exponential = [&](double q) { return unit([&](double i) { return -std::exp(-i / (q * size)); }); };
  for (const double q : kExponentialShares) exponentials.push_back(exponential(q));
  for (const double q : kSlowExponentialShares) slow_exponentials.push_back(exponential(q));
  for (const double q : kLogarithmShares) {
    logarithms.push_back(unit([&](double i) { return std::log(1 + i / (q * size)); }));
  }
  if (n < 4) return;
  std::vector<double> line = t;
  normalise(line, 0);
  for (const double x : t) curve.push_back(x * x);
  centre(curve);
  subtract(curve, line);
  normalise(curve, 0);
}

void Tables::add_waves() {
  const auto size = static_cast<double>(n);
  const double vanishing = 1e-6 * std::sqrt(size);
  for (const double share : kWaveShares) {
    Wave wave;
    for (const double i : place) {
      const double angle = 2 * std::numbers::pi * i / (share * size);
      wave.first.push_back(std::sin(angle));
      wave.second.push_back(std::cos(angle));
    }
    wave.line = t;
    centre(wave.first);
    normalise(wave.first, vanishing);
    centre(wave.second);
    subtract(wave.second, wave.first);
    normalise(wave.second, vanishing);
    subtract(wave.line, wave.first);
    subtract(wave.line, wave.second);
    wave.line_squares = dot(wave.line, wave.line);
    waves.push_back(std::move(wave));
  }
}

/// Slots are counted from value to value, so that no jitter adds up.
void Tables::add_cycles() {
  if (n < 4) return;
  double shortest = gap[1];
  for (std::size_t i = 2; i < n; ++i) shortest = std::min(shortest, gap[i]);
  double sum = 0, count = 0;
  for (std::size_t i = 1; i < n; ++i) {
    if (gap[i] >= 1.5 * shortest) continue;
    sum += gap[i];
    count += 1;
  }
  const double distance = sum / count;
  for (std::size_t period = 2; period <= std::min(n / 2, kLongestCycle); ++period) {
    Cycle cycle;
    cycle.inverse.assign(period, 0);
    cycle.t_sum.assign(period, 0);
    cycle.t_spread = t_spread;
    for (std::size_t i = 0, phase = 0; i < n; ++i) {
      if (i > 0)
        phase = static_cast<std::size_t>(
            std::fmod(static_cast<double>(phase) + std::round(gap[i] / distance), static_cast<double>(period)));
      cycle.phase.push_back(phase);
      cycle.inverse[phase] += 1;
      cycle.t_sum[phase] += t[i];
    }
    for (std::size_t phase = 0; phase < period; ++phase) {
      if (cycle.inverse[phase] > 0) cycle.inverse[phase] = 1 / cycle.inverse[phase];
      cycle.t_spread -= cycle.t_sum[phase] * cycle.t_sum[phase] * cycle.inverse[phase];
    }
    cycles.push_back(std::move(cycle));
  }
}

const Tables& Tables::of(std::size_t count, std::span<const double> places) {
  thread_local std::vector<std::unique_ptr<Tables>> kept;
  thread_local std::size_t values = 0;
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const std::unique_ptr<Tables>& tables) {
    return places.empty() ? tables->even && tables->n == count : std::ranges::equal(places, tables->place);
  });
  if (found != kept.end()) return **found;
  if (values + count > kMostValues) {
    kept.clear();
    values = 0;
  }
  values += count;
  std::vector<double> even(places.empty() ? count : 0);
  std::iota(even.begin(), even.end(), 0.0);
  return *kept.emplace_back(std::make_unique<Tables>(places.empty() ? even : places));
}

}  // namespace snapdiff::trend
