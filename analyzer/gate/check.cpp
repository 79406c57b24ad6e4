#include <algorithm>
#include <cmath>
#include <tuple>

#include "analyzer/gate/gate.hpp"
#include "analyzer/gate/leak_id.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::gate {
namespace {

constexpr std::size_t kWithinShown = 5;
// What is measured again differs a little: an entry written today must hold tomorrow.
constexpr double kHeadroom = 1.1;

bool has_patterns(const Budget& budget) {
  return !budget.function.empty() || !budget.file.empty() || !budget.module.empty();
}

bool is_rate(const Budget& budget) { return budget.measure != Measure::growth; }

class Checker {
 public:
  Checker(GateReport& report, const std::vector<Allowance>& allowances, const std::string& today)
      : report_(report), overall_(report.trend.series.overall), allowances_(allowances), today_(today) {}

  void run() {
    find_owned_rows();
    for (std::size_t i = 0; i < report_.budgets.size(); ++i) {
      const Budget& budget = report_.budgets[i];
      switch (budget.scope) {
        case BudgetScope::stack: check_rows(i); break;
        case BudgetScope::total: check_total(i); break;
        case BudgetScope::match: check_sum(i); break;
      }
    }
    std::stable_sort(report_.findings.begin(), report_.findings.end(), [](const GateFinding& a, const GateFinding& b) {
      const auto key = [](const GateFinding& f) {
        return std::tuple(-static_cast<int>(f.outcome), -(f.measured - f.allowed));
      };
      return key(a) < key(b);
    });
    for (std::size_t i = 0; i < allowances_.size(); ++i) {
      if (used_[i] == 0) report_.stale.push_back(allowances_[i].name.empty() ? allowances_[i].id : allowances_[i].name);
    }
  }

 private:
  bool row_matches(const Budget& budget, std::uint32_t row) {
    if (overall_.options.by != GroupBy::stack) {
      const std::string& key = overall_.keys[overall_.rows[row].key];
      return matches(budget.function, key) && matches(budget.file, key) && matches(budget.module, key);
    }
    overall_.frames(overall_.rows[row], frames_);
    return std::any_of(frames_.begin(), frames_.end(), [&](const FrameView& frame) {
      return matches(budget.function, frame.function) && matches(budget.file, frame.file) &&
             matches(budget.module, frame.module);
    });
  }

  /// Rows that a budget with patterns names: those without patterns are not for them.
  void find_owned_rows() {
    used_.assign(allowances_.size(), 0);
    owned_.assign(overall_.rows.size(), 0);
    for (const Budget& budget : report_.budgets) {
      if (!has_patterns(budget)) continue;
      for (std::uint32_t row = 0; row < overall_.rows.size(); ++row) {
        if (owned_[row] == 0 && row_matches(budget, row)) owned_[row] = 1;
      }
    }
  }

  Verdict verdict_of(std::uint32_t row) const {
    return row < report_.trend.verdicts.size() ? report_.trend.verdicts[row] : Verdict{};
  }

  /// Fills measured, allowed and outcome.
  void measure(const Budget& budget, double growth, GateFinding& finding) const {
    const double share = budget.is_share ? std::abs(static_cast<double>(overall_.total.baseline)) : 1;
    finding.allowed = budget.amount * share;
    const double step_seconds = report_.trend.axis.step_seconds;
    finding.measured = budget.measure == Measure::growth     ? growth
                       : budget.measure == Measure::per_step ? finding.verdict.slope
                       : step_seconds > 0                    ? finding.verdict.slope / step_seconds
                                                             : 0;
    const bool blind = (is_rate(budget) && report_.trend.series.steps.size() < trend::kJudgedFrom) ||
                       (budget.measure == Measure::per_second && !(step_seconds > 0));
    if (blind) {
      finding.outcome = growth > 0 ? Outcome::unjudged : Outcome::within;
      finding.note = budget.measure == Measure::per_second && !(step_seconds > 0) ? "the snapshots hold no usable times"
                                                                                  : "8 snapshots or more are judged";
      return;
    }
    const bool over = finding.measured > finding.allowed;
    const bool claimed = !is_rate(budget) || finding.verdict.word == "GROWING";
    finding.outcome = over && claimed ? Outcome::broken : Outcome::within;
  }

  void accept(const Budget& budget, GateFinding& finding) {
    for (std::size_t i = 0; i < allowances_.size(); ++i) {
      const Allowance& one = allowances_[i];
      if (one.id != finding.id) continue;
      used_[i] = 1;
      if (finding.outcome != Outcome::broken) continue;
      if (!one.until.empty() && one.until < today_) {
        finding.note = "was accepted until " + one.until;
        continue;
      }
      if (!one.text.empty()) {
        const Result<Budget> amount = parse_budget(one.text);
        if (!amount || amount->measure != budget.measure || amount->is_share) {
          finding.note = "accepted amount " + one.text + " is of another kind than " + budget.text;
          continue;
        }
        if (finding.measured > amount->amount) {
          finding.note = "more than the accepted " + one.text;
          continue;
        }
      }
      finding.outcome = Outcome::accepted;
      finding.note =
          one.until.empty() ? one.reason : "until " + one.until + (one.reason.empty() ? "" : ": " + one.reason);
    }
  }

  void check_rows(std::size_t number) {
    const Budget& budget = report_.budgets[number];
    std::vector<GateFinding> within;
    for (std::uint32_t row = 0; row < overall_.rows.size(); ++row) {
      if (has_patterns(budget) ? !row_matches(budget, row) : owned_[row] != 0) continue;
      GateFinding finding;
      finding.budget = number;
      finding.row = row;
      finding.verdict = verdict_of(row);
      measure(budget, static_cast<double>(overall_.rows[row].value.growth()), finding);
      if (finding.outcome == Outcome::within) {
        if (finding.measured > 0) within.push_back(std::move(finding));
        continue;
      }
      describe(finding);
      accept(budget, finding);
      report_.findings.push_back(std::move(finding));
    }
    std::stable_sort(within.begin(), within.end(),
                     [](const GateFinding& a, const GateFinding& b) { return a.measured > b.measured; });
    for (std::size_t i = 0; i < within.size(); ++i) {
      if (i >= kWithinShown && allowances_.empty()) break;
      describe(within[i]);
      accept(budget, within[i]);
      if (i < kWithinShown) report_.findings.push_back(std::move(within[i]));
    }
  }

  void describe(GateFinding& finding) {
    finding.id = leak_id(report_.trend, finding.row);
    finding.name = leak_name(report_.trend, finding.row);
    if (overall_.options.by != GroupBy::stack) return;
    overall_.frames(overall_.rows[finding.row], frames_);
    for (const FrameView& frame : frames_) {
      if (frame.file.empty()) continue;
      finding.file = frame.file;
      finding.line = frame.line;
      break;
    }
  }

  void finish(std::size_t number, double growth, std::string name, GateFinding finding) {
    const Budget& budget = report_.budgets[number];
    finding.budget = number;
    finding.id = leak_id(budget);
    finding.name = std::move(name);
    measure(budget, growth, finding);
    accept(budget, finding);
    report_.findings.push_back(std::move(finding));
  }

  void check_total(std::size_t number) {
    GateFinding finding;
    finding.verdict = report_.trend.whole;
    finish(number, static_cast<double>(overall_.total.growth()), "TOTAL", std::move(finding));
  }

  void check_sum(std::size_t number) {
    const Budget& budget = report_.budgets[number];
    const std::size_t n = overall_.series_length;
    std::vector<double> values(n, 0);
    double growth = 0;
    std::size_t rows = 0;
    for (std::uint32_t row = 0; row < overall_.rows.size(); ++row) {
      if (!row_matches(budget, row)) continue;
      ++rows;
      growth += static_cast<double>(overall_.rows[row].value.growth());
      for (std::size_t i = 0; i < n; ++i) values[i] += static_cast<double>(overall_.series[row * n + i]);
    }
    GateFinding finding;
    if (n >= 3) finding.verdict = trend::judge(values, 0, 0, overall_.unit);
    std::string name = !budget.name.empty() ? budget.name : !budget.owner.empty() ? budget.owner : budget.text;
    name += " (" + std::to_string(rows) + (rows == 1 ? " row)" : " rows)");
    if (rows == 0) finding.note = "nothing matches";
    finish(number, growth, std::move(name), std::move(finding));
  }

  GateReport& report_;
  const GrowthReport& overall_;
  const std::vector<Allowance>& allowances_;
  const std::string& today_;
  std::vector<std::uint8_t> owned_;  // by row
  std::vector<std::uint8_t> used_;   // by allowance
  std::vector<FrameView> frames_;
};

}  // namespace

Allowance allowance_for(const GateFinding& finding, const GateReport& report, const std::string& until,
                        const std::string& reason) {
  const double amount = std::ceil(finding.measured * kHeadroom);
  const char* per = report.budgets[finding.budget].measure == Measure::growth     ? ""
                    : report.budgets[finding.budget].measure == Measure::per_step ? "/step"
                                                                                  : "/s";
  const auto whole = static_cast<std::int64_t>(std::min(amount, 9e18));
  return {finding.id, finding.name, std::to_string(whole) + per, until, reason};
}

GateReport check(TrendReport trend, std::vector<Budget> budgets, const std::vector<Allowance>& allowances,
                 const std::string& today) {
  GateReport report;
  report.trend = std::move(trend);
  report.budgets = std::move(budgets);
  Checker(report, allowances, today).run();
  return report;
}

}  // namespace snapdiff::gate
