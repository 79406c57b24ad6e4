#include <charconv>
#include <cmath>
#include <optional>

#include "analyzer/base/size_text.hpp"
#include "analyzer/gate/check_gate.hpp"

namespace snapdiff::gate {
namespace {

constexpr double kMinute = 60;
constexpr double kHour = 3600;
constexpr double kDay = 86400;

/// "h", "7d", "90 min": seconds.
std::optional<double> parse_duration(std::string_view text) {
  double number = 1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit = failure == std::errc{} ? text.substr(static_cast<std::size_t>(end - text.data())) : text;
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  if (!(number > 0 && number < 1e9)) return std::nullopt;
  if (unit == "s" || unit == "second") return number;
  if (unit == "min" || unit == "minute") return number * kMinute;
  if (unit == "h" || unit == "hour") return number * kHour;
  if (unit == "d" || unit == "day") return number * kDay;
  if (unit == "week") return number * 7 * kDay;
  return std::nullopt;
}

}  // namespace

Result<Budget> parse_budget(const std::string& text) {
  const auto bad = [&] {
    return Error{ErrorCode::usage,
                 "'" + text + "' is no budget: expected e.g. 100KiB/step, 10MiB, total:3%/step or total:10GiB/7d"};
  };
  Budget budget;
  budget.text = text;
  std::string_view rest = text;
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    const std::string_view scope = rest.substr(0, colon);
    if (scope == "total") {
      budget.scope = BudgetScope::total;
    } else if (scope == "culprit") {
      budget.scope = BudgetScope::culprit;
    } else if (scope != "stack") {
      return bad();
    }
    rest.remove_prefix(colon + 1);
  }
  std::string_view amount = rest;
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
    amount = rest.substr(0, slash);
    const std::string_view per = rest.substr(slash + 1);
    if (per == "step" || per == "snapshot") {
      budget.measure = Measure::per_step;
    } else if (per == "jump") {
      budget.measure = Measure::jump;
    } else if (const std::optional<double> seconds = parse_duration(per)) {
      budget.measure = Measure::per_second;
      budget.amount = 1 / *seconds;
    } else {
      return bad();
    }
  }
  double number = 0;
  if (amount.ends_with('%')) {
    const auto [end, failure] = std::from_chars(amount.data(), amount.data() + amount.size(), number);
    if (failure != std::errc{} || end != amount.data() + amount.size() - 1) return bad();
    number /= 100;
    budget.is_share = true;
  } else if (const std::optional<double> bytes = parse_bytes(amount)) {
    number = *bytes;
  } else {
    return bad();
  }
  if (!(number >= 0) || !std::isfinite(number)) return bad();
  budget.amount = budget.measure == Measure::per_second ? budget.amount * number : number;
  return budget;
}

std::vector<Budget> default_budgets(const Judged& series) {
  // 5 %: two runs of one program on the same input differ by one or two, and a person would ask about more.
  using Texts = std::vector<std::string>;
  Texts texts = series.counters ? Texts{"5%"} : Texts{"total:5%", "culprit:5%"};
  if (series.snapshots >= kJudgedFrom) {
    texts = {series.counters ? "0/step" : "culprit:0/step"};
    // Within one build a step is a load, a cache or a table that resizes.
    if (series.has_release && !series.counters) texts.insert(texts.end(), {"total:5%/jump", "culprit:5%/jump"});
  }
  std::vector<Budget> budgets;
  for (const std::string& text : texts) budgets.push_back(*parse_budget(text));
  return budgets;
}

bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return true;
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t from = 0;
  // After a mismatch the last star takes one more character: no recursion, at most pattern * text steps.
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace snapdiff::gate
