#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/trend/shapes.hpp"

namespace snapdiff::trend {

inline constexpr double kSure = .95;  ///< odds of a group that decide

/// What the rule found out about a series, before words.
struct Findings {
  std::span<const double> values;  ///< without spikes
  const Fit* fit = nullptr;
  double floor = 0;
  std::size_t spikes = 0;
  std::array<double, kGroups> p{};
  Shape best = Shape::constant;
  double warm_up = 0;  ///< coefficient of the best warm-up shape
  double wander = 0;   ///< odds of walk, drifting walk, never back and the AR .8 shapes
  double stretch = 1;  ///< steps between two values, in the mean; slopes are a step
  double slope = 0;
  double rise = 0;
  double largest_fall = 0;  ///< from an earlier high
  double late_slope = 0;    ///< of the last half
  bool large = false;       ///< step 4
  bool kept = false;        ///< step 5: never half undone
  std::size_t cycle = 0;    ///< its period, where only that excuses what was undone
  bool slowing = false;     ///< step 6
  double wanted = kSure;    ///< odds of the climbing shapes from which a climb is sure
  bool by_chance = false;   ///< of a sampled series: what is seen to come and go may rise as far without any growth

  double p_of(Group group) const { return p[static_cast<std::size_t>(group)]; }
  /// Holds more than every other group.
  bool leads(Group group) const {
    for (std::size_t g = 0; g < kGroups; ++g) {
      if (g != static_cast<std::size_t>(group) && p[g] >= p_of(group)) return false;
    }
    return true;
  }
};

/// Steps 2 to 6. `values`, `tables` (of their places) and `fit` must outlive the result; the range is above 0.
/// @param stretch  steps between two values, in the mean
/// @param sample   what one sample stands for; 0: not sampled
Findings find_out(std::span<const double> values, const Tables& tables, double stretch, double noise_variance,
                  double sample, double floor, Fit& fit);

/// Step 1: single points far off both neighbours become their mean, in place. Returns how many.
std::size_t remove_spikes(std::span<double> values, double noise_variance);

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
