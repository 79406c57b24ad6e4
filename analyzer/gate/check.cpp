#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/base/default_metric.hpp"
#include "analyzer/gate/check_gate.hpp"
#include "analyzer/gate/claims.hpp"
#include "analyzer/gate/leak_id.hpp"
#include "analyzer/trend/verdict.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::gate {
namespace {

constexpr std::size_t kWithinShown = 5;
/// Bytes over a whole series: a page. Below it, growth never reaches the operating system. Budgets of 0 leave it.
constexpr double kLeastRise = 4096;

/// Growth from first to last, and one standard deviation of it; 0 where it is exact or unknown.
struct Growth {
  double value = 0;
  double error = 0;
};

Growth growth_of(const Change& change, double error) {
  return {static_cast<double>(change.growth()), std::isfinite(error) ? error : 0};
}

class Checker {
 public:
  Checker(GateReport& report, const std::vector<Allowance>& allowances, const std::string& today)
      : report_(report), overall_(report.trend.series.overall), allowances_(allowances), today_(today) {}

  void run() {
    find_rows();
    for (std::size_t i = 0; i < report_.budgets.size(); ++i) {
      const Budget& budget = report_.budgets[i];
      switch (budget.scope) {
        case BudgetScope::stack: check_rows(i); break;
        case BudgetScope::total: check_total(i); break;
        case BudgetScope::culprit: check_culprits(i); break;
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
  /// Budgets whose patterns a frame fits; asked once of each frame that has other texts.
  const std::vector<std::size_t>& budgets_of(const FrameView& frame) {
    const auto [at, is_new] =
        budgets_of_.try_emplace({frame.function.data(), frame.file.data(), frame.module.data(), frame.function.size()});
    for (std::size_t b = 0; is_new && b < report_.budgets.size(); ++b) {
      const Budget& budget = report_.budgets[b];
      const bool asks = has_patterns(budget) || budget.scope == BudgetScope::match;
      if (asks && matches(budget.function, frame.function) && matches(budget.file, frame.file) &&
          matches(budget.module, frame.module))
        at->second.push_back(b);
    }
    return at->second;
  }

  /// Rows by budget. A row that a budget with patterns names is not for budgets without patterns.
  void find_rows() {
    used_.assign(allowances_.size(), 0);
    owned_.assign(overall_.rows.size(), 0);
    rows_of_.resize(report_.budgets.size());
    for (std::uint32_t row = 0; row < overall_.rows.size(); ++row) {
      const auto fits = [&](const FrameView& frame) {
        for (const std::size_t b : budgets_of(frame)) {
          if (!rows_of_[b].empty() && rows_of_[b].back() == row) continue;
          rows_of_[b].push_back(row);
          if (has_patterns(report_.budgets[b])) owned_[row] = 1;
        }
      };
      if (overall_.options.by != GroupBy::stack) {
        FrameView group;
        group.function = group.file = group.module = overall_.keys[overall_.rows[row].key];
        fits(group);
        continue;
      }
      overall_.frames(overall_.rows[row], frames_);
      std::for_each(frames_.begin(), frames_.end(), fits);
      const Counterpart* const before = overall_.counterpart(overall_.rows[row].key);
      if (before == nullptr) continue;
      overall_.view->frames(before->before, frames_);
      std::for_each(frames_.begin(), frames_.end(), fits);
    }
  }

  /// Rows below the floor of the view have no verdict: a budget that they may break sets a floor of its own.
  Verdict verdict_of(std::uint32_t row, const Budget& budget) const {
    const TrendReport& trend = report_.trend;
    if (row >= trend.verdicts.size()) return {};
    const Verdict& verdict = trend.verdicts[row];
    if (!verdict.minor || budget.amount <= 0 || report_.counters) return verdict;
    const auto growth = static_cast<double>(overall_.rows[row].value.growth());
    return growth > allowed_rise(budget, row) / 2 ? trend::judge_row(overall_, row, 0, &trend.axis) : verdict;
  }

  double allowed(const Budget& budget, std::uint32_t row) const {
    if (!budget.is_share) return budget.amount;
    const Change& of = report_.counters && row != kNoRow ? overall_.rows[row].value : overall_.total;
    return budget.amount * std::abs(static_cast<double>(of.baseline));
  }

  /// From first to last.
  double allowed_rise(const Budget& budget, std::uint32_t row) const {
    const double steps = is_rate(budget) ? static_cast<double>(report_.trend.series.steps.size()) - 1 : 1;
    const double seconds = budget.measure == Measure::per_second ? report_.trend.axis.step_seconds : 1;
    return allowed(budget, row) * steps * seconds;
  }

  /// Why this growth cannot be held against the budget, "" when it can.
  std::string why_unjudged(const Budget& budget, const Growth& growth, const GateFinding& finding) const {
    if (budget.measure == Measure::growth) return {};
    // What did not grow does not grow fast either, and what grew less than a jump did not jump.
    if (growth.value <= (budget.measure == Measure::jump ? finding.allowed : 0)) return {};
    if (budget.measure == Measure::per_second && !(report_.trend.axis.step_seconds > 0))
      return "the snapshots hold no usable times";
    const std::size_t snapshots = report_.trend.series.steps.size();
    if (snapshots < kJudgedFrom)
      return std::to_string(kJudgedFrom) + " snapshots or more are judged: found " + std::to_string(snapshots);
    if (budget.amount > 0 && finding.verdict.word.empty() && growth.value > allowed_rise(budget, finding.row))
      return finding.verdict.reason.empty() ? "its values are not known" : finding.verdict.reason;
    return {};
  }

  /// The measure, and what is sure of it.
  std::pair<double, double> measures(const Budget& budget, const Growth& growth, const Verdict& verdict) const {
    if (!is_rate(budget)) return {growth.value, growth.value - kDeviations * growth.error};
    const double seconds = budget.measure == Measure::per_step ? 1 : report_.trend.axis.step_seconds;
    if (!(seconds > 0)) return {0, 0};
    return {verdict.slope / seconds, std::min(verdict.slope, verdict.slope_low) / seconds};
  }

  /// Fills measured, least, allowed and outcome.
  void measure(const Budget& budget, const Growth& growth, GateFinding& finding) const {
    finding.allowed = allowed(budget, finding.row);
    if (std::string why = why_unjudged(budget, growth, finding); !why.empty()) {
      finding.outcome = Outcome::unjudged;
      finding.note = std::move(why);
      return;
    }
    const auto [measured, least] = measures(budget, growth, finding.verdict);
    finding.measured = measured;
    finding.least = least;
    const std::size_t snapshots = report_.trend.series.steps.size();
    // A lost byte never belongs to a cache that fills: lost bytes that grow unsteadily may still be a leak.
    const bool lost = overall_.metric == kLostSpace && asks_whether_culprits_grow(budget);
    const bool open = lost ? finding.verdict.word != "GROWING" : is_open(budget, finding.verdict, snapshots - absent_);
    const bool claimed = open || is_claimed(budget, finding.verdict.word);
    bool exceeds = least > finding.allowed;
    if (is_rate(budget) && budget.amount == 0) {
      const double rise = finding.verdict.slope * (static_cast<double>(snapshots) - 1);
      const bool below_page = overall_.unit == "bytes" && std::max(rise, claimed_together_) < kLeastRise;
      exceeds = lost && open ? growth.value >= kLeastRise
                             : (least > 0 || (measured > 0 && finding.verdict.by_objects)) && !below_page;
    }
    // However straight a sampled rise is: both ends may differ so by their samples alone.
    const bool by_sampling = is_rate(budget) && growth.value <= farthest_by_chance(overall_.rows.size()) * growth.error;
    exceeds = exceeds && !by_sampling;
    finding.outcome = !claimed || !exceeds ? Outcome::within : open ? Outcome::unjudged : Outcome::broken;
    if (open && exceeds) {
      finding.note = lost ? "lost bytes that grow, not steadily"
                          : "may be chance: " + std::to_string(2 * kJudgedFrom) + " snapshots decide, found " +
                                std::to_string(snapshots - absent_);
    } else if (claimed && !exceeds && measured > finding.allowed) {
      finding.note = by_sampling && growth.value > kDeviations * growth.error
                         ? "of so many rows one may rise as far by its samples"
                     : budget.amount == 0 && is_rate(budget) && least > 0 && !by_sampling
                         ? "less than 4 KiB over the series"
                         : "within two standard deviations of the budget";
    }
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
    const bool named = has_patterns(budget);
    for (std::uint32_t i = 0; i < (named ? rows_of_[number].size() : overall_.rows.size()); ++i) {
      const std::uint32_t row = named ? rows_of_[number][i] : i;
      if (!named && owned_[row] != 0) continue;
      GateFinding finding;
      finding.budget = number;
      finding.row = row;
      finding.verdict = verdict_of(row, budget);
      measure(budget, growth_of(overall_.rows[row].value, overall_.rows[row].error), finding);
      if (finding.outcome == Outcome::within) {
        if (finding.measured.value_or(0) > 0) within.push_back(std::move(finding));
        continue;
      }
      describe(finding);
      accept(budget, former_id(finding), finding);
      (finding.outcome == Outcome::unjudged ? unjudged : report_.findings).push_back(std::move(finding));
    }
    if (!unjudged.empty()) report_.findings.push_back(together(number, std::move(unjudged)));
    if (is_rate(budget) && !has_patterns(budget)) check_spread(number);
    std::stable_sort(within.begin(), within.end(),
                     [](const GateFinding& a, const GateFinding& b) { return *a.measured > *b.measured; });
    for (std::size_t i = 0; i < within.size(); ++i) {
      if (i >= kWithinShown && allowances_.empty()) break;
      describe(within[i]);
      accept(budget, former_id(within[i]), within[i]);
      if (i < kWithinShown) report_.findings.push_back(std::move(within[i]));
    }
  }

  /// A culprit that is GROWING while none of its stacks is: they are new, or it is spread over many. It breaks a budget
  /// for each stack where their mean does.
  void check_spread(std::size_t number) {
    if (overall_.options.by != GroupBy::stack || overall_.story == nullptr) return;
    for (const Culprit& culprit : overall_.story->culprits) {
      if (culprit.verdict.word != "GROWING") continue;
      if (std::any_of(culprit.rows.begin(), culprit.rows.end(), [&](std::uint32_t row) { return owned_[row] != 0; }))
        continue;
      const bool seen = std::any_of(report_.findings.begin(), report_.findings.end(), [&](const GateFinding& one) {
        return one.outcome != Outcome::within && one.budget == number &&
               std::binary_search(culprit.rows.begin(), culprit.rows.end(), one.row);
      });
      if (seen) continue;
      const double rows = std::max(1.0, static_cast<double>(culprit.rows.size()));
      const double seconds = report_.trend.axis.step_seconds;
      const double step = report_.budgets[number].measure == Measure::per_second && seconds > 0 ? seconds : 1;
      const double least = report_.budgets[number].amount == 0 ? culprit.verdict.slope : culprit.verdict.slope_low;
      if (least / step > allowed(report_.budgets[number], kNoRow) * rows) check_culprit(number, culprit);
    }
  }

  /// What could not be judged, as one finding.
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

  void finish(std::size_t number, const Growth& growth, std::string name, GateFinding finding,
              const std::string& former = {}) {
    const Budget& budget = report_.budgets[number];
    finding.budget = number;
    if (finding.id.empty()) finding.id = leak_id(budget);
    finding.name = std::move(name);
    measure(budget, growth, finding);
    accept(budget, former, finding);
    report_.findings.push_back(std::move(finding));
  }

  /// By how much stacks rose at least that a list of the largest ones has at the end alone: before, each was smaller
  /// than the least that was listed. The total lacks them.
  double risen_unlisted() const {
    std::int64_t least = 0;
    const auto listed = [&least](std::int64_t value) {
      if (value > 0) least = least == 0 ? value : std::min(least, value);
    };
    for (const GrowthRow& row : overall_.rows) listed(row.value.baseline);
    for (const ListedOnce& one : overall_.listed_once)
      if (one.first == 0) listed(one.value.baseline);
    const std::size_t end = report_.trend.series.steps.size() - 1;
    double risen = 0;
    for (const ListedOnce& one : overall_.listed_once)
      if (least > 0 && one.first > 0 && one.last == end)
        risen += static_cast<double>(std::max<std::int64_t>(0, one.value.current - least));
    return risen;
  }

  void check_total(std::size_t number) {
    if (report_.counters) return check_rows(number);
    GateFinding finding;
    finding.verdict = report_.trend.whole;
    finish(number, growth_of(overall_.total, overall_.total_error), "TOTAL", std::move(finding));
    GateFinding& told = report_.findings.back();
    if (told.outcome != Outcome::within || report_.budgets[number].measure != Measure::growth) return;
    const double risen = risen_unlisted();
    if (risen <= 0 || told.measured.value_or(0) + risen <= told.allowed) return;
    told.outcome = Outcome::unjudged;
    told.note = "with the stacks that only the last list has, the growth is beyond the budget";
  }

  /// Each culprit of the story that grew. Rows of another view than stacks are in no culprit: there each row is one of
  /// its own.
  void check_culprits(std::size_t number) {
    if (overall_.options.by != GroupBy::stack) return check_rows(number);
    const std::size_t before = report_.findings.size();
    const Story* const story = overall_.story.get();
    bool grows = false;
    claimed_together_ = claimed_growth(story);
    if (story != nullptr) {
      for (const auto* const part : {&story->culprits, &story->levelled}) {
        for (const Culprit& culprit : *part) {
          grows = grows || culprit.verdict.word == "GROWING";
          check_culprit(number, culprit);
        }
      }
    }
    claimed_together_ = 0;
    absent_ = 0;
    // The whole grows and no function explains it.
    const bool alone = story == nullptr || story->culprits.empty() || story->verdict == "GROWING";
    if (is_rate(report_.budgets[number]) && !grows && alone && report_.trend.whole.word == "GROWING")
      return check_total(number);
    if (report_.findings.size() > before) return;
    GateFinding none;
    none.rows = 0;
    finish(number, {}, "no culprit", std::move(none));
  }

  /// Many culprits of less than a page each are more than a page, and what a culprit keeps alive grows in rows of other
  /// types.
  double claimed_growth(const Story* story) const {
    double of_culprits = 0, of_rows = 0;
    const auto add = [](double& sum, const Verdict& verdict, std::int64_t growth) {
      if (verdict.word == "GROWING") sum += std::max(0.0, static_cast<double>(growth));
    };
    if (story != nullptr) {
      for (const Culprit& culprit : story->culprits) add(of_culprits, culprit.verdict, culprit.growth());
    }
    const std::vector<Verdict>& verdicts = report_.trend.verdicts;
    for (std::size_t i = 0; i < verdicts.size(); ++i) add(of_rows, verdicts[i], overall_.rows[i].value.growth());
    return std::max(of_culprits, of_rows);
  }

  void check_culprit(std::size_t number, const Culprit& culprit) {
    if (culprit.growth() <= 0) return;
    std::vector<FrameView> leaf_first(culprit.path.rbegin(), culprit.path.rend());
    GateFinding finding;
    finding.rows = culprit.rows.size();
    finding.verdict = culprit.verdict;
    absent_ = absent_at_first(sums(culprit.rows));
    const Growth growth = growth_of(culprit.value, culprit.error);
    if (leaf_first.empty()) {  // stacks without frames
      std::string name;
      for (const Span& span : culprit.text.name) name += span.text;
      finding.id = leak_id(name);
      return finish(number, growth, std::move(name), std::move(finding));
    }
    finding.id = leak_id(leaf_first);
    place_at_first_file(leaf_first, finding);
    finish(number, growth, leak_name(leaf_first), std::move(finding),
           former_leak_id(report_.trend, leaf_first, culprit.rows));
  }

  /// Of rows, at each snapshot; none where the report keeps no series.
  std::vector<double> sums(const std::vector<std::uint32_t>& rows) const {
    std::vector<double> values(overall_.series_length, 0);
    for (const std::uint32_t row : rows) overall_.series.add_to(values, row);
    return values;
  }

  Verdict verdict_of_sum(const std::vector<std::uint32_t>& rows) const {
    const std::vector<double> values = sums(rows);
    return values.size() < 3 ? Verdict() : trend::judge(values, 0, 0, overall_.unit);
  }

  void check_sum(std::size_t number) {
    const Budget& budget = report_.budgets[number];
    Growth growth;
    double variance = 0;
    const std::vector<std::uint32_t>& rows = rows_of_[number];
    for (const std::uint32_t row : rows) {
      const Growth one = growth_of(overall_.rows[row].value, overall_.rows[row].error);
      growth.value += one.value;
      variance += one.error * one.error;
    }
    growth.error = std::sqrt(variance);
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
  using Texts = std::tuple<const char*, const char*, const char*, std::size_t>;
  std::map<Texts, std::vector<std::size_t>> budgets_of_;
  std::vector<std::vector<std::uint32_t>> rows_of_;  // by budget
  std::vector<std::uint8_t> owned_;                  // by row
  std::vector<std::uint8_t> used_;                   // by allowance
  std::vector<FrameView> frames_;
  std::size_t absent_ = 0;       // snapshots before the first that has the culprit that is checked: none judges it
  double claimed_together_ = 0;  // by all culprits that are GROWING, while these are checked
};

}  // namespace

GateReport check(TrendReport trend, std::vector<Budget> budgets, const std::vector<Allowance>& allowances,
                 const std::string& today, bool counters) {
  GateReport report;
  report.counters = counters;
  report.trend = std::move(trend);
  report.budgets = std::move(budgets);
  Checker(report, allowances, today).run();
  return report;
}

}  // namespace snapdiff::gate
