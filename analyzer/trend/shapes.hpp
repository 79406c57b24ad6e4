#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Shapes fitted to a series, and the evidence for each (README.md, "The shapes").
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

/// Everything the rule asks of a series. Used for one after the other, it allocates nothing.
struct Fit {
  std::vector<Evidence> shapes;
  const Tables* tables = nullptr;
  std::size_t cycle_period = 0;   ///< of the best line with a cycle; 0: none was tried
  std::size_t wave = 0;           ///< of the best line with a wave: which of the tables'
  std::size_t bend = 0;           ///< last flat point of the best flat then line
  std::size_t knee = 0;           ///< first flat point of the best ramp then flat
  std::vector<std::size_t> cuts;  ///< first point after each jump, of the best of one to three steps
  double mean = 0;
  double range = 0;
  double slope = 0;                  ///< b
  double line_rss = 0;               ///< around the line
  double noise_floor = 0;            ///< w: no fit is believed beyond this variance per point
  double step_squares = 0;           ///< D: sum of squared differences, each over its distance
  double mean_step = 0;              ///< d
  std::vector<double> y;             ///< values around their mean
  std::vector<double> sum;           ///< sum[i] = y_0 + .. + y_{i-1}
  std::vector<double> weighted_sum;  ///< of place_i * y_i
};

/// Fits all shapes to three or more values with a range above 0; `tables` of their places.
/// @param replaced  sampled, and long enough to be distinguished from a warm-up that is replaced meanwhile:
///                  that is fitted too
/// Cost: O(40 n); O(50 n) where `replaced`.
void fit_shapes(std::span<const double> values, const Tables& tables, double noise_variance, bool replaced, Fit& fit);

/// Of one value or more; and of stretches of about equally many values.
double mean_of(std::span<const double> values);
std::vector<double> means_of(std::span<const double> values, std::size_t stretches);

/// Slope of least squares over some values at their places.
double slope_of(std::span<const double> values, std::span<const double> places);

}  // namespace snapdiff::trend
