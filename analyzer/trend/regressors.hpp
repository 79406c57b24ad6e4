#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace snapdiff::trend {

inline constexpr std::size_t kLongestCycle = 16;

/// Regressors that depend on the places of the values alone, centred and of length 1, one after another.
class Tables {
 public:
  /// `places` ascend from 0 to places.size() - 1: a place is a value's time, in mean distances.
  explicit Tables(std::span<const double> places);

  /// Tables for `count` evenly spaced values, or for `places` where those are not empty; kept per thread.
  static const Tables& of(std::size_t count, std::span<const double> places);

  struct Wave {
    std::vector<double> first, second;  ///< orthonormal base of sin and cos; a zero vector where it vanishes
    std::vector<double> line;           ///< t without its part in the base; not of length 1
    double line_squares = 0;
  };

  /// A cycle of `period` slots, which are whole distances: where values are missing, the phases run on.
  struct Cycle {
    std::vector<std::size_t> phase;  ///< of each value
    std::vector<double> inverse;     ///< by phase: 1 / number of values, 0 without one
    std::vector<double> t_sum;       ///< by phase
    double t_spread = 0;             ///< squares of t within the phases
    std::size_t period() const { return inverse.size(); }
  };

  std::size_t n = 0;
  bool even = true;
  std::vector<double> place;
  std::vector<double> t;              ///< places around their mean
  double t_spread = 0;                ///< sum of its squares
  std::vector<double> place_sum;      ///< place_sum[i] = place[0] + .. + place[i - 1]
  std::vector<double> place_squares;  ///< likewise of their squares
  std::vector<double> gap;            ///< gap[i] = place[i] - place[i - 1], from 1 on
  double log_gaps = 0;                ///< sum of their logarithms; 0 when even
  std::vector<double> curve;          ///< t^2 without its part in constant and line; empty below n = 4
  std::vector<double> inverse;        ///< inverse[k] = 1 / k, up to n; inverse[0] is 0
  std::vector<std::vector<double>> exponentials;
  std::vector<std::vector<double>> slow_exponentials;  ///< of 0.4 of the window and more
  std::vector<std::vector<double>> logarithms;
  std::vector<Wave> waves;    ///< from n = 8
  std::vector<Cycle> cycles;  ///< of period 2, 3, .. up to min(n / 2, kLongestCycle)

 private:
  void add_curves();
  void add_waves();
  void add_cycles();
};

}  // namespace snapdiff::trend
