#include "analyzer/trend/verdict.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/trend/reason.hpp"
#include "analyzer/trend/rule.hpp"

namespace snapdiff::trend {

namespace {

constexpr double kSure = .95;     // odds of a group that decide
constexpr double kHarmless = .8;  // odds of step and warm-up together
constexpr double kNoisy = .02;    // residual sd as a share of the level

/// 95 % band of the slope (README.md, "The band").
void set_band(const Findings& found, Verdict& verdict) {
  const Fit& fit = *found.fit;
  const std::span<const double> values = found.values;
  const auto n = static_cast<double>(values.size());
  verdict.slope_low = verdict.slope_high = verdict.slope;
  if (values.size() < 3) return;
  double products = 0;
  double previous = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double residual = values[i] - fit.mean - fit.slope * (static_cast<double>(i) - (n - 1) / 2);
    if (i > 0) products += residual * previous;
    previous = residual;
  }
  double r = fit.line_rss > 0 ? products / fit.line_rss : 0;
  if (values.size() >= 8) r += 2 / n;
  r = std::clamp(r, 0.0, .9);
  double centre = fit.slope;
  double error = std::sqrt(fit.line_rss / (n - 2)) / std::sqrt(fit.t_spread) * std::sqrt((1 + r) / (1 - r));
  const double d = fit.mean_step;
  const double walk_error = std::sqrt(std::max(0.0, fit.step_squares - (n - 1) * d * d) / (n - 2) / (n - 1));
  if (found.wander >= .1 && walk_error > error) {
    centre = d;
    error = walk_error;
  }
  const double q = 1.96 + 2.4 / (n - 2) + 4 / ((n - 2) * (n - 2));
  verdict.slope_low = centre - q * error;
  verdict.slope_high = centre + q * error;
}

void rest(const Findings& found, std::string_view unit, Verdict& verdict) {
  const double freedom = static_cast<double>(found.values.size()) - 2;
  const double sd = std::sqrt(found.fit->line_rss / freedom);
  if (sd > kNoisy * std::abs(found.fit->mean) || found.leads(Group::walk)) {
    verdict.word = "NOISY";
    verdict.reason = reason_noisy(found, unit);
  } else {
    verdict.word = "FLAT";
    verdict.reason = reason_flat(found);
  }
}

/// Climbing shapes lead, but GROWING was not reached. False: it is too small to be told so.
bool climbing_leads(const Findings& found, std::string_view unit, Verdict& verdict) {
  if (found.p_of(Group::climbing) < .5 || (found.large && !found.kept)) {
    verdict.word = "NOISY";
    verdict.reason = reason_noisy(found, unit);
    return true;
  }
  if (!found.large || found.rise <= 0) return false;
  verdict.word = found.slowing ? "SATURATING" : "RISING";
  verdict.reason = found.slowing ? reason_saturating(found) : reason_rising(found);
  return true;
}

void choose_word(const Findings& found, std::string_view unit, Verdict& verdict) {
  const double climbing = found.p_of(Group::climbing);
  const bool climbs = found.large && found.rise > 0 && found.kept && !found.slowing;
  if (found.values.size() >= kJudgedFrom && climbing >= kSure && climbs) {
    verdict.word = "GROWING";
    verdict.reason = reason_growing(found, unit);
    return;
  }
  if (found.leads(Group::climbing) && climbing_leads(found, unit, verdict)) return;
  if (found.p_of(Group::falling) >= kSure && found.large && found.rise < 0) {
    verdict.word = "SHRINKING";
    verdict.reason = reason_shrinking(found, unit);
    return;
  }
  const double warm_up = found.p_of(Group::warm_up);
  const double steps = found.p_of(Group::steps);
  if (warm_up + steps >= kHarmless) {
    if (steps >= warm_up) {
      verdict.word = "STEP";
      verdict.reason = reason_step(found, unit);
      return;
    }
    if (found.warm_up > 0) {
      verdict.word = "SATURATING";
      verdict.reason = reason_saturating(found);
      return;
    }
  }
  rest(found, unit, verdict);
}

void judge_shapes(std::span<double> values, double noise_variance, double floor, std::string_view unit,
                  Verdict& verdict) {
  const std::size_t spikes = remove_spikes(values, noise_variance);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*most <= *least) {
    verdict.word = "FLAT";
    verdict.reason = "level but for single spikes";
    return;
  }
  thread_local Fit fit;
  Findings found = find_out(values, noise_variance, floor, fit);
  found.spikes = spikes;
  verdict.p = found.p_of(Group::climbing);
  verdict.slope = fit.slope;
  verdict.rise = found.rise;
  set_band(found, verdict);
  choose_word(found, unit, verdict);
}

std::string flat_reason(double range, std::size_t count) {
  if (range > 0) return "changes less than the floor";
  std::string text("unchanged in all ");
  return text.append(std::to_string(count)).append(" snapshots");
}

}  // namespace

Verdict judge(std::span<const double> values, double noise_variance, double floor, std::string_view unit) {
  Verdict verdict;
  if (values.size() < 3) {
    verdict.reason = "fewer than 3 snapshots show growth, not a trend";
    return verdict;
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double range = *most - *least;
  if (!(range > 0) || range < floor) {
    verdict.word = "FLAT";
    verdict.reason = flat_reason(range, values.size());
    return verdict;
  }
  thread_local std::vector<double> copy;
  if (values.back() == 0) {
    const auto last = std::find_if(values.rbegin(), values.rend(), [](double value) { return value != 0; });
    copy.assign(values.begin(), values.end());
    judge_shapes(copy, noise_variance, floor, unit, verdict);
    verdict.word = "GONE";
    verdict.reason = "last there at snapshot ";
    verdict.reason += std::to_string(values.rend() - last);
    return verdict;
  }
  const auto first = std::find_if(values.begin(), values.end(), [](double value) { return value != 0; });
  const auto absent = static_cast<std::size_t>(first - values.begin());
  if (absent == 0 || values.size() - absent >= kJudgedFrom) {
    const std::span<const double> present = values.subspan(absent);
    const auto [low, high] = std::minmax_element(present.begin(), present.end());
    copy.assign(present.begin(), present.end());
    if (*high > *low && *high - *low >= floor) {
      judge_shapes(copy, noise_variance, floor, unit, verdict);
      return verdict;
    }
    // Came at once and stayed: not there before, level since.
  } else {
    copy.assign(values.begin(), values.end());
    judge_shapes(copy, noise_variance, floor, unit, verdict);
  }
  verdict.word = "NEW";
  verdict.reason = "not there before snapshot ";
  verdict.reason += std::to_string(absent + 1);
  return verdict;
}

}  // namespace snapdiff::trend
