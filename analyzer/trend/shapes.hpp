#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/trend/regressors.hpp"

/// Shapes fitted to a series, and the evidence for each (README.md, "The shapes").
namespace snapdiff::trend {

enum class Group : std::uint8_t { level, walk, steps, warm_up, climbing, falling };
inline constexpr std::size_t kGroups = 6;

enum class Shape : std::uint8_t {
  constant,
  autoregressive_5,
  autoregressive_8,
  cycle,
  wave,
  walk,
  one_step,
  two_steps,
  three_steps,
  ramp_then_flat,
  exponential,
  exponential_autoregressive,
  slow_exponential,
  logarithm,
  line,
  flat_then_line,
  line_autoregressive_5,
  line_autoregressive_8,
  line_cycle,
  line_wave,
  drifting_walk,
  never_back
};

struct Evidence {
  Shape shape = Shape::constant;
  Group group = Group::level;
  double log_odds = 0;
  double coefficient = 0;  ///< of the rising regressor, where there is one
};

/// Everything the rule asks of a series; values are centred on their mean inside.
struct Fit {
  std::vector<Evidence> shapes;
  const Tables* tables = nullptr;
  std::size_t cycle_period = 0;   ///< of the best line with a cycle; 0: none was tried
  std::vector<std::size_t> cuts;  ///< first point after each jump, of the best of one to three steps
  double mean = 0;
  double range = 0;
  double slope = 0;         ///< b
  double line_rss = 0;      ///< around the line
  double noise_floor = 0;   ///< w: no fit is believed beyond this variance per point
  double step_squares = 0;  ///< D: sum of squared differences, each over its distance
  double mean_step = 0;     ///< d
};

/// Fits all shapes to three or more values with a range above 0; `tables` of their places.
/// @param replaced  sampled, and long enough to be distinguished from a warm-up that is replaced meanwhile:
///                  that is fitted too
/// Cost: O(40 n); O(50 n) where `replaced`.
void fit_shapes(std::span<const double> values, const Tables& tables, double noise_variance, bool replaced, Fit& fit);

/// Slope of least squares over some values at their places.
double slope_of(std::span<const double> values, std::span<const double> places);

}  // namespace snapdiff::trend
