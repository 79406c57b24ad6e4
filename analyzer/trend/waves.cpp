#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "analyzer/trend/rule.hpp"

namespace snapdiff::trend {
namespace {

// Periods in the window, in halves of one. Fewer are waves of the rule's own (Tables::waves): one and a half rounds of
// something may as well be a climb.
constexpr std::size_t kFewestHalves = 9;
constexpr std::size_t kMostHalves = 80;
constexpr std::size_t kMostWaves = 4;  // a day is seldom a sine: its harmonics
constexpr double kShare = .2;          // of the squares that a line leaves: as the rule asks of a line for its cycles
constexpr int kRounds = 2;             // line, then wave: of whole and half periods they have little in common

using Turn = std::complex<double>;

/// A wave as its values; empty where none holds enough.
struct Found {
  std::size_t halves = 0;
  double gain = 0;  ///< squares that it explains
  double cos = 0, sin = 0;
};

class WaveFinder {
 public:
  WaveFinder(std::span<double> values, const Tables& tables) : values_(values), tables_(tables) {
    for (const double place : tables.place)
      half_.push_back(std::polar(1.0, std::numbers::pi * place / static_cast<double>(tables.n)));
  }

  std::size_t take_out() {
    std::size_t taken = 0;
    while (taken < kMostWaves && take_one()) ++taken;
    return taken;
  }

 private:
  bool take_one() {
    const double left = leave_line();
    Found best;
    start(kFewestHalves);
    // A wave of fewer than four values is noise as well.
    const std::size_t most = std::min(kMostHalves, tables_.n / 2);
    for (std::size_t halves = kFewestHalves; halves <= most; ++halves) {
      const Found found = fit(halves);
      if (found.gain > best.gain) best = found;
      for (std::size_t i = 0; i < tables_.n; ++i) turn_[i] *= half_[i];
    }
    const auto n = static_cast<double>(tables_.n);
    // Two coefficients and where they lie, as for the shapes.
    const double evidence = -n / 2 * std::log1p(-std::min(best.gain / left, 1 - 1e-9)) - 1.5 * std::log(n);
    if (!(best.gain >= kShare * left) || evidence <= 0) return false;
    for (int round = 0; round < kRounds; ++round) {
      if (round > 0) leave_line();
      start(best.halves);
      if (round > 0) best = fit(best.halves);
      for (std::size_t i = 0; i < tables_.n; ++i) values_[i] -= best.cos * turn_[i].real() + best.sin * turn_[i].imag();
    }
    return true;
  }

  /// The residuals of the line, and their squares.
  double leave_line() {
    double mean = 0, squares = 0;
    for (const double value : values_) mean += value / static_cast<double>(tables_.n);
    const double slope = slope_of(values_, tables_.place);
    rest_.clear();
    for (std::size_t i = 0; i < tables_.n; ++i) {
      rest_.push_back(values_[i] - mean - slope * tables_.t[i]);
      squares += rest_.back() * rest_.back();
    }
    return squares;
  }

  void start(std::size_t halves) {
    turn_.clear();
    for (const Turn& half : half_) turn_.push_back(std::pow(half, static_cast<int>(halves)));
  }

  Found fit(std::size_t halves) const {
    double cc = 0, cs = 0, ss = 0, cy = 0, sy = 0;
    for (std::size_t i = 0; i < tables_.n; ++i) {
      const double c = turn_[i].real(), s = turn_[i].imag();
      cc += c * c;
      cs += c * s;
      ss += s * s;
      cy += c * rest_[i];
      sy += s * rest_[i];
    }
    const double determinant = cc * ss - cs * cs;
    if (!(determinant > 1e-6 * cc * ss)) return {};
    const double a = (ss * cy - cs * sy) / determinant, b = (cc * sy - cs * cy) / determinant;
    return {halves, a * cy + b * sy, a, b};
  }

  std::span<double> values_;
  const Tables& tables_;
  std::vector<Turn> half_;  ///< by value: half a period in the window
  std::vector<Turn> turn_;  ///< of the wave that is looked at
  std::vector<double> rest_;
};

}  // namespace

std::size_t take_out_waves(std::span<double> values, const Tables& tables) {
  return WaveFinder(values, tables).take_out();
}

}  // namespace snapdiff::trend
