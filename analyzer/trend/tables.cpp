#include "analyzer/trend/tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <numeric>

namespace snapdiff::trend {

namespace {

// Time constants and periods as shares of the window: coarse enough to be cheap, fine enough that a
// shape between two of them still beats a line by several units of evidence (README.md).
constexpr std::array<double, 5> kExponentialShares{.05, .1, .16, .24, .34};
constexpr std::array<double, 3> kLogarithmShares{.02, .05, .14};
constexpr std::array<double, 7> kWaveShares{1, .8, .65, .5, .4, .32, .25};

/// A process sees few lengths; a caller that tries thousands must not keep them all.
constexpr std::size_t kMostTables = 32;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void centre(std::vector<double>& v) {
  const double mean = std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
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

Tables::Tables(std::size_t count) : n(count), inverse(count + 1, 0) {
  for (std::size_t k = 1; k <= n; ++k) inverse[k] = 1 / static_cast<double>(k);
  const auto size = static_cast<double>(n);
  const double vanishing = 1e-6 * std::sqrt(size);
  const auto unit = [&](auto value_at) {
    std::vector<double> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = value_at(static_cast<double>(i));
    centre(v);
    normalise(v, 0);
    return v;
  };
  for (const double q : kExponentialShares) {
    exponentials.push_back(unit([&](double i) { return -std::exp(-i / (q * size)); }));
  }
  for (const double q : kLogarithmShares) {
    logarithms.push_back(unit([&](double i) { return std::log(1 + i / (q * size)); }));
  }
  if (n < 8) return;
  for (const double share : kWaveShares) {
    Wave wave;
    for (std::size_t i = 0; i < n; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / (share * size);
      wave.first.push_back(std::sin(angle));
      wave.second.push_back(std::cos(angle));
      wave.line.push_back(static_cast<double>(i) - (size - 1) / 2);
    }
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

const Tables& Tables::of(std::size_t n) {
  thread_local std::map<std::size_t, std::unique_ptr<Tables>> kept;
  if (kept.size() >= kMostTables && kept.find(n) == kept.end()) kept.clear();
  std::unique_ptr<Tables>& tables = kept[n];
  if (tables == nullptr) tables = std::make_unique<Tables>(n);
  return *tables;
}

}  // namespace snapdiff::trend
