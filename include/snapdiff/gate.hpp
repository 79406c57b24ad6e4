#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "snapdiff/trend.hpp"

/// Budgets for growth, and what a series made of them.
namespace snapdiff {

/// What is measured.
///   growth      first -> last, in the metric's unit
///   per_step    the slope, a snapshot
///   per_second  the slope, a second; needs times in the snapshots
enum class Measure : std::uint8_t { growth, per_step, per_second };

/// For what.
///   stack   each stack (or function, module, ... as the view groups) alone
///   total   the whole
///   match   the sum of the rows with a frame that `function`, `file` and `module` name
enum class BudgetScope : std::uint8_t { stack, total, match };

/// One budget. A rate is broken by what is GROWING faster: below 8 snapshots rates are not judged.
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

/// within: measured and small enough. unjudged: too few snapshots for a rate, or no times for one a
/// second.
enum class Outcome : std::uint8_t { within, accepted, unjudged, broken };

inline constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

/// One budget against one row, the total or a sum.
///   row      of the trend's overall view; kNoRow for a total or a sum
///   id       the same for the same leak in every build, whatever its lines and addresses: made of the
///            names of the stack's functions (of module and offset where there are none)
///   measured, allowed  in the unit of the budget's measure
struct GateFinding {
  Outcome outcome = Outcome::within;
  std::size_t budget = 0;
  std::uint32_t row = kNoRow;
  std::string id;
  std::string name;
  double measured = 0;
  double allowed = 0;
  Verdict verdict;
  std::string file;
  std::int32_t line = 0;
  std::string note;  ///< "accepted until 2026-10-01: expired"
};

/// Findings: broken first, then unjudged, accepted and the largest within; most over budget first.
struct GateReport {
  TrendReport trend;
  std::vector<Budget> budgets;
  std::vector<GateFinding> findings;
  std::vector<std::string> stale;  ///< allowances that nothing needs any more
  bool is_breached() const {
    for (const GateFinding& finding : findings) {
      if (finding.outcome == Outcome::broken) return true;
    }
    return false;
  }
};

}  // namespace snapdiff
