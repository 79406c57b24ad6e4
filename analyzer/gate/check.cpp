#include <algorithm>
#include <cmath>
#include <tuple>

#include "analyzer/gate/check_gate.hpp"
#include "analyzer/gate/leak_id.hpp"
#include "analyzer/trend/verdict.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::gate {
namespace {

constexpr std::size_t kWithinShown = 5;
// What is measured again differs a little: an entry written today must hold tomorrow.
constexpr double kHeadroom = 1.1;

bool has_patterns(const Budget& budget) {
  return !budget.function.empty() || !budget.file.empty() || !budget.module.empty();
}

bool is_rate(const Budget& budget) {
  return budget.measure == Measure::per_step || budget.measure == Measure::per_second;
}

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
        case BudgetScope::suspect: check_suspects(i); break;
        case BudgetScope::match: check_sum(i); break;
      }
    }
    std::stable_sort(report_.findings.begin(), report_.findings.end(), [](const GateFinding& a, const GateFinding& b) {
      const auto key = [](const GateFinding& f) {
        return std::tuple(-static_cast<int>(f.outcome), f.allowed - f.measured.value_or(f.allowed));
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
    const auto named = [&] {
      return std::any_of(frames_.begin(), frames_.end(), [&](const FrameView& frame) {
        return matches(budget.function, frame.function) && matches(budget.file, frame.file) &&
               matches(budget.module, frame.module);
      });
    };
    overall_.frames(overall_.rows[row], frames_);
    if (named()) return true;
    const Counterpart* const before = overall_.counterpart(overall_.rows[row].key);
    if (before == nullptr) return false;
    overall_.view->frames(before->before, frames_);
    return named();
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

  /// Why this growth cannot be held against the budget, "" when it can.
  std::string why_unjudged(const Budget& budget, double growth, double allowed) const {
    if (budget.measure == Measure::growth) return {};
    // What did not grow does not grow fast either, and what grew less than a jump did not jump.
    if (growth <= (budget.measure == Measure::jump ? allowed : 0)) return {};
    if (budget.measure == Measure::per_second && !(report_.trend.axis.step_seconds > 0))
      return "the snapshots hold no usable times";
    const std::size_t snapshots = report_.trend.series.steps.size();
    if (snapshots >= kJudgedFrom) return {};
    return std::to_string(kJudgedFrom) + " snapshots or more are judged: found " + std::to_string(snapshots);
  }

  /// Fills measured, allowed and outcome.
  void measure(const Budget& budget, double growth, GateFinding& finding) const {
    const double share = budget.is_share ? std::abs(static_cast<double>(overall_.total.baseline)) : 1;
    finding.allowed = budget.amount * share;
    if (std::string why = why_unjudged(budget, growth, finding.allowed); !why.empty()) {
      finding.outcome = Outcome::unjudged;
      finding.note = std::move(why);
      return;
    }
    const double step_seconds = report_.trend.axis.step_seconds;
    const double slope = finding.verdict.slope;
    finding.measured = !is_rate(budget)                      ? growth
                       : budget.measure == Measure::per_step ? slope
                       : step_seconds > 0                    ? slope / step_seconds
                                                             : 0;
    const std::string& word = finding.verdict.word;
    const bool claimed = budget.measure == Measure::growth || (is_rate(budget) && word == "GROWING") ||
                         (budget.measure == Measure::jump && (word == "STEP" || word == "NEW"));
    finding.outcome = *finding.measured > finding.allowed && claimed ? Outcome::broken : Outcome::within;
  }

  /// `former`: the id that the finding had before a release, "" where it is the same.
  void accept(const Budget& budget, const std::string& former, GateFinding& finding) {
    for (std::size_t i = 0; i < allowances_.size(); ++i) {
      const Allowance& one = allowances_[i];
      if (one.id != finding.id && (former.empty() || one.id != former)) continue;
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
        if (finding.measured.value_or(0) > amount->amount) {
          finding.note = "more than the accepted " + one.text;
          continue;
        }
      }
      finding.outcome = Outcome::accepted;
      finding.note =
          one.until.empty() ? one.reason : "until " + one.until + (one.reason.empty() ? "" : ": " + one.reason);
      if (one.id != finding.id)
        finding.note = "as " + one.id + " before the release" + (finding.note.empty() ? "" : ", " + finding.note);
    }
  }

  void check_rows(std::size_t number) {
    const Budget& budget = report_.budgets[number];
    std::vector<GateFinding> within;
    std::vector<GateFinding> unjudged;
    for (std::uint32_t row = 0; row < overall_.rows.size(); ++row) {
      if (has_patterns(budget) ? !row_matches(budget, row) : owned_[row] != 0) continue;
      GateFinding finding;
      finding.budget = number;
      finding.row = row;
      finding.verdict = verdict_of(row);
      measure(budget, static_cast<double>(overall_.rows[row].value.growth()), finding);
      if (finding.outcome == Outcome::within) {
        if (finding.measured.value_or(0) > 0) within.push_back(std::move(finding));
        continue;
      }
      describe(finding);
      accept(budget, former_id(finding), finding);
      (finding.outcome == Outcome::unjudged ? unjudged : report_.findings).push_back(std::move(finding));
    }
    if (!unjudged.empty()) report_.findings.push_back(together(number, std::move(unjudged)));
    std::stable_sort(within.begin(), within.end(),
                     [](const GateFinding& a, const GateFinding& b) { return *a.measured > *b.measured; });
    for (std::size_t i = 0; i < within.size(); ++i) {
      if (i >= kWithinShown && allowances_.empty()) break;
      describe(within[i]);
      accept(budget, former_id(within[i]), within[i]);
      if (i < kWithinShown) report_.findings.push_back(std::move(within[i]));
    }
  }

  /// What could not be judged, as one finding: none of it says more than the next.
  GateFinding together(std::size_t number, std::vector<GateFinding> unjudged) const {
    if (unjudged.size() == 1) return std::move(unjudged.front());
    GateFinding finding;
    finding.budget = number;
    finding.outcome = Outcome::unjudged;
    finding.rows = unjudged.size();
    finding.id = leak_id(report_.budgets[number]);
    finding.name = std::to_string(unjudged.size()) + " rows that grew";
    finding.allowed = unjudged.front().allowed;
    finding.note = unjudged.front().note;
    return finding;
  }

  std::string former_id(const GateFinding& finding) const {
    return allowances_.empty() ? std::string() : former_leak_id(report_.trend, finding.row);
  }

  void describe(GateFinding& finding) {
    finding.id = leak_id(report_.trend, finding.row);
    const GrowthRow& row = overall_.rows[finding.row];
    if (overall_.options.by != GroupBy::stack) {
      finding.name = overall_.keys[row.key];
      return;
    }
    overall_.frames(row, frames_);
    finding.name = leak_name(frames_);
    place_at_first_file(frames_, finding);
  }

  /// `frames` leaf first.
  static void place_at_first_file(const std::vector<FrameView>& frames, GateFinding& finding) {
    const auto known =
        std::find_if(frames.begin(), frames.end(), [](const FrameView& frame) { return !frame.file.empty(); });
    if (known == frames.end()) return;
    finding.file = known->file;
    finding.line = known->line;
  }

  void finish(std::size_t number, double growth, std::string name, GateFinding finding,
              const std::string& former = {}) {
    const Budget& budget = report_.budgets[number];
    finding.budget = number;
    if (finding.id.empty()) finding.id = leak_id(budget);
    finding.name = std::move(name);
    measure(budget, growth, finding);
    accept(budget, former, finding);
    report_.findings.push_back(std::move(finding));
  }

  void check_total(std::size_t number) {
    GateFinding finding;
    finding.verdict = report_.trend.whole;
    finish(number, static_cast<double>(overall_.total.growth()), "TOTAL", std::move(finding));
  }

  /// Each culprit of the story that grew. Rows of another view than stacks are in no culprit: there each row is one of
  /// its own.
  void check_suspects(std::size_t number) {
    if (overall_.options.by != GroupBy::stack) return check_rows(number);
    const std::size_t before = report_.findings.size();
    if (overall_.story != nullptr) {
      for (const Culprit& culprit : overall_.story->culprits) check_culprit(number, culprit);
    }
    if (report_.findings.size() > before) return;
    GateFinding none;
    none.rows = 0;
    finish(number, 0, "no culprit", std::move(none));
  }

  void check_culprit(std::size_t number, const Culprit& culprit) {
    if (culprit.value.growth() <= 0 || culprit.path.empty()) return;
    std::vector<FrameView> leaf_first(culprit.path.rbegin(), culprit.path.rend());
    GateFinding finding;
    finding.rows = culprit.rows.size();
    finding.verdict = culprit.verdict;
    finding.id = leak_id(leaf_first);
    place_at_first_file(leaf_first, finding);
    finish(number, static_cast<double>(culprit.value.growth()), leak_name(leaf_first), std::move(finding),
           former_leak_id(report_.trend, leaf_first, culprit.rows));
  }

  /// Of the sum of rows of a series; no verdict where the report keeps no series.
  Verdict verdict_of_sum(const std::vector<std::uint32_t>& rows) const {
    const std::size_t n = overall_.series_length;
    if (n < 3) return {};
    std::vector<double> values(n, 0);
    for (const std::uint32_t row : rows) overall_.series.add_to(values, row);
    return trend::judge(values, 0, 0, overall_.unit);
  }

  void check_sum(std::size_t number) {
    const Budget& budget = report_.budgets[number];
    double growth = 0;
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < overall_.rows.size(); ++row) {
      if (!row_matches(budget, row)) continue;
      rows.push_back(row);
      growth += static_cast<double>(overall_.rows[row].value.growth());
    }
    GateFinding finding;
    finding.verdict = verdict_of_sum(rows);
    finding.rows = rows.size();
    std::string name = !budget.name.empty() ? budget.name : !budget.owner.empty() ? budget.owner : budget.text;
    name += " (" + std::to_string(rows.size()) + (rows.size() == 1 ? " row)" : " rows)");
    if (rows.empty()) finding.note = "nothing matches";
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
  const double amount = std::ceil(finding.measured.value_or(0) * kHeadroom);
  static constexpr const char* kPer[] = {"", "/step", "/s", "/jump"};
  const char* const per = kPer[static_cast<std::size_t>(report.budgets[finding.budget].measure)];
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
