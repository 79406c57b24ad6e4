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

/// A wave of `halves` half periods, by its parts of cosine and sine, and the squares that it explains.
struct Found {
  std::size_t halves = 0;
  double gain = 0;
  double cos = 0, sin = 0;
};

/// The residuals of a line, and their squares.
double leave_line(std::span<const double> values, const Tables& tables, std::vector<double>& rest) {
  const double mean = mean_of(values), slope = slope_of(values, tables.place);
  double squares = 0;
  rest.clear();
  for (std::size_t i = 0; i < tables.n; ++i) {
    rest.push_back(values[i] - mean - slope * tables.t[i]);
    squares += rest.back() * rest.back();
  }
  return squares;
}

Found fit(const std::vector<double>& rest, const std::vector<Turn>& turn, std::size_t halves) {
  double cc = 0, cs = 0, ss = 0, cy = 0, sy = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const double c = turn[i].real(), s = turn[i].imag();
    cc += c * c;
    cs += c * s;
    ss += s * s;
    cy += c * rest[i];
    sy += s * rest[i];
  }
  const double determinant = cc * ss - cs * cs;
  if (!(determinant > 1e-6 * cc * ss)) return {};
  const double a = (ss * cy - cs * sy) / determinant, b = (cc * sy - cs * cy) / determinant;
  return {halves, a * cy + b * sy, a, b};
}

/// Of each value's half turn, those of a wave of `halves` half periods.
void start(const std::vector<Turn>& half, std::size_t halves, std::vector<Turn>& turn) {
  turn.clear();
  for (const Turn& one : half) turn.push_back(std::pow(one, static_cast<int>(halves)));
}

bool take_one(std::span<double> values, const Tables& tables, const std::vector<Turn>& half) {
  std::vector<Turn> turn;
  std::vector<double> rest;
  const double left = leave_line(values, tables, rest);
  Found best;
  start(half, kFewestHalves, turn);
  // A wave of fewer than four values is noise as well.
  for (std::size_t halves = kFewestHalves; halves <= std::min(kMostHalves, tables.n / 2); ++halves) {
    const Found found = fit(rest, turn, halves);
    if (found.gain > best.gain) best = found;
    for (std::size_t i = 0; i < tables.n; ++i) turn[i] *= half[i];
  }
  const auto n = static_cast<double>(tables.n);
  // Two coefficients and where they lie, as for the shapes.
  const double evidence = -n / 2 * std::log1p(-std::min(best.gain / left, 1 - 1e-9)) - 1.5 * std::log(n);
  if (!(best.gain >= kShare * left) || evidence <= 0) return false;
  start(half, best.halves, turn);
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) leave_line(values, tables, rest);
    best = fit(rest, turn, best.halves);
    for (std::size_t i = 0; i < tables.n; ++i) values[i] -= best.cos * turn[i].real() + best.sin * turn[i].imag();
  }
  return true;
}

}  // namespace

std::size_t take_out_waves(std::span<double> values, const Tables& tables) {
  std::vector<Turn> half;  // of each value: half a period in the window
  for (const double place : tables.place)
    half.push_back(std::polar(1.0, std::numbers::pi * place / static_cast<double>(tables.n)));
  std::size_t taken = 0;
  while (taken < kMostWaves && take_one(values, tables, half)) ++taken;
  return taken;
}

}  // namespace snapdiff::trend
