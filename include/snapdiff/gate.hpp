#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "snapdiff/trend.hpp"

/// Budgets for growth, and what a series made of them.
namespace snapdiff {

/// What is measured.
///   growth      first -> last, in the metric's unit
///   per_step    the slope, a snapshot
///   per_second  the slope, a second; needs times in the snapshots
///   jump        first -> last of what is judged STEP or NEW: the level of before and the level since
enum class Measure : std::uint8_t { growth, per_step, per_second, jump };

/// For what.
///   stack   each stack (or function, module, ... as the view groups) alone
///   total   the whole
///   culprit each culprit of the first -> last view: the sum of the stacks below it
///   match   the sum of the rows with a frame that `function`, `file` and `module` name
enum class BudgetScope : std::uint8_t { stack, total, culprit, match };

/// One budget. It is held against the measure less two standard deviations. A rate is broken by what is GROWING, or
/// RISING where the rate is above 0; a jump by what is STEP or NEW: below 8 snapshots neither is judged.
///   amount   allowed, in the unit (per second for Measure::per_second); with `is_share` of the
///            baseline total, 0.03 for 3 %
///   text     as it was given: "100KiB/step"
///   function, file, module   patterns with * and ?; "" matches all
struct Budget {
  std::string name;
  std::string owner;
  std::string text;
  BudgetScope scope = BudgetScope::stack;
  Measure measure = Measure::growth;
  double amount = 0;
  bool is_share = false;
  std::string function, file, module;
};

/// Growth that was accepted on purpose.
///   id      leak id
///   text    the amount that is accepted, "" = any
///   until   last day, "2026-12-31"; "" = for ever
struct Allowance {
  std::string id;
  std::string name;
  std::string text;
  std::string until;
  std::string reason;
};

/// within: measured and small enough. unjudged: too few snapshots for a rate or a jump, no times for a rate a second,
/// or no verdict on a row that grew by more than is allowed; neither held nor broken.
enum class Outcome : std::uint8_t { within, accepted, unjudged, broken };

inline constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

/// One budget against one row, the total or a sum.
///   row      of the trend's overall view; kNoRow for a total or a sum
///   rows     how many rows it is about; what is unjudged in a budget for each stack is one finding
///   id       the same for the same leak in every build, whatever its lines and addresses: made of the
///            names of the stack's functions (of module and offset where there are none)
///   measured, allowed  in the unit of the budget's measure; `measured` is empty where it is unjudged
///   least    `measured` less two standard deviations (of sampling, or of the slope): what was held against `allowed`
struct GateFinding {
  Outcome outcome = Outcome::within;
  std::size_t budget = 0;
  std::uint32_t row = kNoRow;
  std::string id;
  std::string name;
  std::size_t rows = 1;
  std::optional<double> measured;
  std::optional<double> least;
  double allowed = 0;
  Verdict verdict;
  std::string file;
  std::int32_t line = 0;
  std::string note;  ///< "accepted until 2026-10-01: expired"
};

/// What a gate says as a whole. unjudged: nothing is broken, and a budget could not be judged.
enum class GateResult : std::uint8_t { passed, unjudged, failed };

/// An instance of a fleet, which is judged by itself. `note`: why it could not be judged.
struct GatedInstance {
  std::string name;
  GateResult result = GateResult::passed;
  std::size_t snapshots = 0;
  std::size_t broken = 0;  ///< findings
  std::string note;
};

/// Findings: broken first, then unjudged, accepted and the largest within; most over budget first.
///   allow_unjudged  budgets that could not be judged are no failure, as long as another one was
///   counters        the rows are counters of logs, each a whole of its own: total and culprit are each of them, and a
///                   share is of its first value
struct GateReport {
  TrendReport trend;
  std::vector<Budget> budgets;
  std::vector<GateFinding> findings;
  std::vector<std::string> stale;  ///< allowances that nothing needs any more
  bool allow_unjudged = false;
  bool counters = false;
  std::vector<GatedInstance> instances;  ///< of a fleet; in order of their names

  /// How many budgets have a finding of this outcome.
  std::size_t budgets_with(Outcome outcome) const {
    std::vector<std::uint8_t> has(budgets.size(), 0);
    for (const GateFinding& finding : findings) {
      if (finding.outcome == outcome) has[finding.budget] = 1;
    }
    std::size_t count = 0;
    for (const std::uint8_t one : has) count += one;
    return count;
  }
  std::size_t unjudged_instances() const {
    std::size_t count = 0;
    for (const GatedInstance& one : instances) count += one.result == GateResult::unjudged ? 1U : 0U;
    return count;
  }
  bool is_breached() const { return budgets_with(Outcome::broken) > 0; }
  GateResult result() const {
    if (is_breached()) return GateResult::failed;
    const std::size_t unjudged = budgets_with(Outcome::unjudged) + unjudged_instances();
    const bool passes = unjudged == 0 || (allow_unjudged && unjudged < budgets.size() + instances.size());
    return passes ? GateResult::passed : GateResult::unjudged;
  }
};

}  // namespace snapdiff
