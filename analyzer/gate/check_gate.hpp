#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/gate.hpp"
#include "snapdiff/result.hpp"

/// The public header of the gate module: budgets for growth, an allowance file of accepted growth, and the
/// verdict of a series against both. Reads and writes texts; files are the caller's.
namespace snapdiff::gate {

/// "100KiB/step", "10MiB", "5%", "3%/step", "482KiB/h", "10GiB/7d", "5%/jump"; before it "total:", "culprit:" or
/// "stack:" (the default). Errors: usage.
Result<Budget> parse_budget(const std::string& text);

/// The rules without a budget. From kJudgedFrom snapshots on no culprit may be GROWING; where a release
/// lies in the series, nothing may jump by 5 % of the baseline either. Below, the total and each culprit may grow by 5
/// %.
struct Judged {
  std::size_t snapshots = 2;
  bool has_release = false;
  bool counters = false;
};
std::vector<Budget> default_budgets(const Judged& series);

/// The [[budget]] entries of a TOML text: `allow` (as above) and, as wanted, `name`, `owner`, `for` (stack,
/// total), `function`, `file`, `module` (patterns; the budget is then for the sum of what matches).
/// Errors: usage, with file and line.
Result<std::vector<Budget>> parse_budgets(const std::string& toml, const std::string& file_name);

/// The [[accept]] entries of an allowance file: `id` and, as wanted, `name`, `amount`, `until`, `reason`.
/// Errors: usage, with file and line.
Result<std::vector<Allowance>> parse_allowances(const std::string& toml, const std::string& file_name);

/// "2026-12-31": a day that the calendar has.
bool is_day(std::string_view text);

/// Entries as they are in an allowance file.
std::string allowance_text(const std::vector<Allowance>& entries);

/// An entry that accepts a finding with a tenth more than was measured.
Allowance allowance_for(const GateFinding& finding, const GateReport& report, const std::string& until,
                        const std::string& reason);

/// `today`: "2026-11-21", for entries that end.
/// `counters`: see GateReport.
GateReport check(TrendReport trend, std::vector<Budget> budgets, const std::vector<Allowance>& allowances,
                 const std::string& today, bool counters = false);

/// Patterns with * (anything) and ? (one character); "" matches all.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace snapdiff::gate
