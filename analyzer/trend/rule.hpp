#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/trend/shapes.hpp"

namespace snapdiff::trend {

inline constexpr double kSure = .95;       ///< odds of a group that decide
inline constexpr double kKeepsPace = .65;  ///< of the slope: what the last half of a steady climb rises by at least

/// What the rule found out about a series, before words.
struct Findings {
  std::span<const double> values;  ///< without spikes
  const Fit* fit = nullptr;
  double floor = 0;
  std::span<const std::size_t> index;  ///< of each value in the series
  std::size_t spikes = 0;
  std::size_t waves = 0;  ///< that were taken out
  std::array<double, kGroups> p{};
  Shape best = Shape::constant;
  double best_coefficient = 0;
  double warm_up = 0;  ///< coefficient of the best warm-up shape
  double wander = 0;   ///< odds of walk, drifting walk, never back and the AR .8 shapes
  double stretch = 1;  ///< steps between two values, in the mean; slopes are a step
  double slope = 0;
  double rise = 0;
  double largest_fall = 0;  ///< from an earlier high
  double late_slope = 0;    ///< of the last half
  bool large = false;       ///< step 4
  bool matters = false;     ///< above the floor, if there is one: a row of any size may hold a leak
  bool kept = false;        ///< step 5: never half undone
  std::size_t cycle = 0;    ///< its period, where only that excuses what was undone
  bool slowing = false;     ///< step 6
  bool stairs = false;      ///< its steps are even, and count as a climb
  double wanted = kSure;    ///< odds of the climbing shapes from which a climb is sure
  bool unlisted = false;    ///< snapshots whose list leaves it out are not among the values
  bool sampled = false;
  bool by_chance = false;  ///< a sampled series rises no further than what comes and goes in it may without growth

  /// The last half rises about as fast as all of it.
  bool keeps_pace() const { return late_slope >= kKeepsPace * slope; }
  double p_of(Group group) const { return p[static_cast<std::size_t>(group)]; }
  /// Holds more than every other group.
  bool leads(Group group) const {
    for (std::size_t g = 0; g < kGroups; ++g) {
      if (g != static_cast<std::size_t>(group) && p[g] >= p_of(group)) return false;
    }
    return true;
  }
};

/// Values from which a wave or scatter can be separated from a rise: two days of hourly values.
inline constexpr std::size_t kLong = 48;

/// Takes out waves of 4.5 to 40 periods that hold a large part of what a line leaves, in place. Returns how many.
/// Cost: O(80 n) a wave.
std::size_t take_out_waves(std::span<double> values, const Tables& tables);

/// The climb as the best shape has it: what is left of the values beside that, and the slope of its line.
///   spread, freedom  of that slope: squares of t beside the shape, and degrees of freedom
/// The residuals are a working area of the thread.
struct Climb {
  std::span<const double> residual;
  double slope = 0;
  double spread = 0;
  double freedom = 0;
};
Climb climb_of(const Findings& found);

/// What comes and goes from each value to the next, together.
double moved_of(std::span<const double> values);

/// Steps 2 to 6. `values`, `tables` (of their places) and `fit` must outlive the result; the range is above 0.
/// @param stretch  steps between two values, in the mean
/// @param sample   what one sample stands for; 0: not sampled
Findings find_out(std::span<const double> values, const Tables& tables, double stretch, double noise_variance,
                  double sample, double floor, Fit& fit);

/// Step 1: single points far off both neighbours become their mean, in place. Returns how many.
std::size_t remove_spikes(std::span<double> values, double noise_variance);

/// "p 0.97".
std::string p_text(double p);

/// The sentence that is beside a verdict.
std::string reason_growing(const Findings& found, std::string_view unit);
std::string reason_rising(const Findings& found);
std::string reason_saturating(const Findings& found);
std::string reason_step(const Findings& found, std::string_view unit);
std::string reason_shrinking(const Findings& found, std::string_view unit);
std::string reason_noisy(const Findings& found, std::string_view unit);
std::string reason_flat(const Findings& found);

/// Jumps that each about double the value: how a growing hash table or vector looks. 0 when other
/// rises are among them.
std::size_t doublings(std::span<const double> values);

}  // namespace snapdiff::trend
