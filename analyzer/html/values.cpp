#include "analyzer/html/stacks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "analyzer/html/markup.hpp"
#include "analyzer/html/packing.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::html {
namespace {

/// Reasons are sentences with figures: of the rows that matter.
constexpr std::size_t kReasons = 4'000;

/// The values of one row, as multiples of what divides them all: sizes of objects make small numbers.
class RowCoder {
 public:
  void add(std::span<const std::int64_t> values) {
    std::uint64_t divisor = 0;
    for (const std::int64_t v : values) divisor = std::gcd(divisor, magnitude(v));
    divisor = std::max<std::uint64_t>(divisor, 1);
    // -2^63 has no positive counterpart.
    if (divisor > static_cast<std::uint64_t>(INT64_MAX)) divisor = 1;
    divisors_.number(divisor);
    std::int64_t last = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t multiple = values[i] / static_cast<std::int64_t>(divisor);
      (i == 0 ? firsts_ : steps_).difference(wrapping_difference(multiple, last));
      last = multiple;
    }
  }
  std::string all() const { return divisors_.all() + firsts_.all() + steps_.all(); }

 private:
  Bytes divisors_, firsts_, steps_;
};

void code_ranks(Bytes& out, std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> ranks(order.size());
  std::iota(ranks.begin(), ranks.end(), 0U);
  const std::size_t count = std::min(kRankedRows, ranks.size());
  std::partial_sort(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(count), ranks.end(),
                    [&](std::uint32_t a, std::uint32_t b) { return order[a] < order[b]; });
  out.number(count);
  for (std::size_t i = 0; i < count; ++i) out.number(ranks[i]);
}

std::string coded_series(const GrowthReport& report, std::span<const std::uint32_t> order) {
  RowCoder coder;
  std::vector<std::int64_t> values;
  for (const std::uint32_t row : order) {
    values.assign(value_count(report), 0);
    for_each_value(report, row, [&](std::size_t i, std::int64_t value) { values[i] = value; });
    coder.add(values);
  }
  return coder.all();
}

std::string coded_objects(const GrowthReport& report, std::span<const std::uint32_t> order) {
  Bytes head;
  RowCoder coder;
  std::vector<std::int64_t> scratch;
  const bool kept = report.series_length > 0 && !report.object_place.empty();
  for (const std::uint32_t row : order) {
    const bool whole = kept && report.object_place[row] != GrowthReport::kNoPlace;
    head.number(whole ? 1 : 0);
    if (whole) {
      coder.add(report.object_series.row(report.object_place[row], scratch));
    } else {
      coder.add(std::array{report.rows[row].objects.baseline, report.rows[row].objects.current});
    }
  }
  return head.all() + coder.all();
}

void code_errors(Bytes& out, const GrowthReport& report, std::span<const std::uint32_t> order) {
  constexpr double kMost = 4.5e15;
  for (const std::uint32_t row : order) {
    const double error = report.rows[row].error;
    out.number(std::isfinite(error) ? static_cast<std::uint64_t>(std::llround(std::clamp(error, 0.0, kMost))) + 1 : 0);
  }
}

void code_verdicts(Bytes& out, const TrendReport& trend, const std::vector<std::uint64_t>& heavy,
                   std::span<const std::uint32_t> order) {
  std::map<std::string, std::size_t> words;
  std::map<std::string, std::size_t> reasons;
  std::vector<std::size_t> word_of, reason_of;
  std::string word_text, reason_text;
  const auto number_of = [](std::map<std::string, std::size_t>& known, std::string& text, std::string_view key) {
    const auto [at, is_new] = known.try_emplace(std::string(key), known.size() + 1);
    if (is_new) text.append(text.empty() ? "" : "\n").append(bounded(key, 400));
    return at->second;
  };
  std::vector<std::uint64_t> sorted(heavy);
  std::uint64_t least = 0;
  if (sorted.size() > kReasons) {
    std::nth_element(sorted.begin(), sorted.begin() + kReasons, sorted.end(), std::greater<>());
    least = sorted[kReasons] + 1;
  }
  for (const std::uint32_t row : order) {
    const Verdict& verdict = trend.verdicts[row];
    word_of.push_back(verdict.word.empty() ? 0 : number_of(words, word_text, verdict.word));
    const bool keeps = !verdict.reason.empty() && heavy[row] >= least;
    reason_of.push_back(keeps ? number_of(reasons, reason_text, verdict.reason) : 0);
  }
  out.text(word_text);
  out.text(reason_text);
  for (const std::size_t word : word_of) out.number(word);
  for (const std::size_t reason : reason_of) out.number(reason);
}

}  // namespace

std::string coded_values(const Postmortem& report, const std::vector<std::uint64_t>& importance,
                         std::span<const std::uint32_t> order) {
  const GrowthReport& growth = report.growth();
  Bytes out;
  code_ranks(out, order);
  out.text(coded_series(growth, order));
  out.text(growth.has_objects ? coded_objects(growth, order) : std::string());
  Bytes errors;
  if (growth.has_error) code_errors(errors, growth, order);
  out.text(errors.all());
  Bytes verdicts;
  if (value_count(growth) >= kJudgedFrom && report.trend.verdicts.size() == growth.rows.size())
    code_verdicts(verdicts, report.trend, importance, order);
  out.text(verdicts.all());
  for (const std::uint32_t row : order) out.number(static_cast<std::uint64_t>(growth.rows[row].tier));
  Bytes known;
  if (growth.series.has_unknown()) {
    for (const std::uint32_t row : order) {
      for (std::size_t i = 0; i < value_count(growth); ++i) known.number(growth.series.known(row, i) ? 1 : 0);
    }
  }
  out.text(known.all());
  return out.all();
}

}  // namespace snapdiff::html
