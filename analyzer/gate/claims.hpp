#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "snapdiff/gate.hpp"
#include "snapdiff/trend.hpp"

/// The questions of budgets.
namespace snapdiff::gate {

/// Standard deviations between a measure and what is held against a budget: 2.3 % of true values lie below.
inline constexpr double kDeviations = 2;

/// Of `rows` that only their samples move, the highest is expected so many standard deviations above 0.
inline double farthest_by_chance(std::size_t rows) {
  return std::max(kDeviations, std::sqrt(2 * std::log(static_cast<double>(std::max<std::size_t>(rows, 1)))));
}

inline bool has_patterns(const Budget& budget) {
  return !budget.function.empty() || !budget.file.empty() || !budget.module.empty();
}

inline bool is_rate(const Budget& budget) {
  return budget.measure == Measure::per_step || budget.measure == Measure::per_second;
}

/// Whether a verdict says what the budget is about.
inline bool is_claimed(const Budget& budget, const std::string& word) {
  if (budget.measure == Measure::growth) return true;
  if (budget.measure == Measure::jump) return word == "STEP" || word == "NEW";
  // Nothing may grow: that is a question of the shape. How fast it may: that is one of the band of the slope.
  return word == "GROWING" || (word == "RISING" && budget.amount > 0);
}

/// `culprit:0/step`, or by time.
inline bool asks_whether_culprits_grow(const Budget& budget) {
  return budget.scope == BudgetScope::culprit && is_rate(budget) && budget.amount == 0;
}

/// Values before the first that is not 0; 0 where all are.
inline std::size_t absent_at_first(const std::vector<double>& values) {
  const auto there = std::find_if(values.begin(), values.end(), [](double value) { return value != 0; });
  return there == values.end() ? 0 : static_cast<std::size_t>(there - values.begin());
}

/// Whether a culprit's verdict leaves open what `culprit:0/step` asks: it rises, by a band above 0, and more snapshots
/// would say whether that is chance. From twice kJudgedFrom on RISING is an answer. `snapshots`: from the first that
/// has it on.
inline bool is_open(const Budget& budget, const Verdict& verdict, std::size_t snapshots) {
  return asks_whether_culprits_grow(budget) && verdict.word == "RISING" && verdict.slope_low > 0 &&
         snapshots < 2 * kJudgedFrom;
}

}  // namespace snapdiff::gate
