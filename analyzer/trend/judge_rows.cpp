#include <algorithm>
#include <cmath>

#include "analyzer/trend/resample.hpp"
#include "analyzer/trend/verdict.hpp"
#include "snapdiff/parallel.hpp"

namespace snapdiff::trend {

namespace {

/// The largest snapshot, as far as the rows tell, and the totals at both ends.
double largest_total(const GrowthReport& report) {
  double most = std::max(std::abs(static_cast<double>(report.total.baseline)),
                         std::abs(static_cast<double>(report.total.current)));
  std::vector<double> totals(report.series_length, 0);
  for (std::size_t row = 0; row < report.rows.size(); ++row) {
    const std::int64_t* const values = report.series.data() + row * totals.size();
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += static_cast<double>(values[i]);
  }
  for (const double total : totals) most = std::max(most, std::abs(total));
  return most;
}

/// Scatter and jumps of the values may hide a climb. A warm-up that slows down is itself well seen: more
/// objects then are small ones.
bool bytes_may_hide_a_climb(const Verdict& verdict) {
  return verdict.word == "RISING" || verdict.word == "NOISY" || verdict.word == "FLAT" || verdict.word == "STEP";
}

/// A leak of objects whose sizes scatter shows in their number first.
void judge_objects(const GrowthReport& overall, std::size_t row, const Resampler& even, double variance, double floor,
                   Verdict& verdict) {
  const std::size_t n = overall.series_length;
  const std::int64_t* const first = overall.object_series.data() + overall.object_place[row] * n;
  std::vector<double> counts(n);
  double objects = 0, bytes = 0;
  for (std::size_t i = 0; i < n; ++i) {
    counts[i] = static_cast<double>(first[i]);
    objects += counts[i];
    bytes += static_cast<double>(overall.series[row * n + i]);
  }
  if (!(objects > 0) || !(bytes > 0)) return;
  const double size = bytes / objects;
  // Whole objects round by up to a half: a variance of 1/12.
  const Verdict counted = judge(even.at_even_times(counts), variance / (size * size) + 1.0 / 12, floor / size, "count");
  if (counted.word != "GROWING") return;
  verdict.reason = "counted in objects: " + counted.reason + "; by " + overall.metric + " alone " + verdict.word;
  verdict.word = counted.word;
  verdict.p = counted.p;
  verdict.rise = std::max(verdict.rise, counted.rise * size);
  verdict.by_objects = true;
}

}  // namespace

std::vector<Verdict> judge_rows(const GrowthReport& overall, const TimeAxis* axis, std::optional<double> wanted) {
  std::vector<Verdict> verdicts;
  const std::size_t n = overall.series_length;
  if (n == 0 || overall.series.size() != n * overall.rows.size()) return verdicts;
  const double floor = wanted ? *wanted : kFloorShare * largest_total(overall);
  const Resampler shared(axis, n);
  verdicts.resize(overall.rows.size());
  constexpr std::size_t kBlock = 1024;
  const std::size_t blocks = (verdicts.size() + kBlock - 1) / kBlock;
  for_each_parallel(blocks, verdicts.size(), [&](std::size_t block) {
    const Resampler even = shared;  // works in place
    std::vector<double> values(n);
    const std::size_t end = std::min(verdicts.size(), (block + 1) * kBlock);
    for (std::size_t row = block * kBlock; row < end; ++row) {
      for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(overall.series[row * n + i]);
      // The row's error is that of a difference of two snapshots: two variances.
      const double error = overall.rows[row].error;
      const double variance = overall.has_error && std::isfinite(error) ? error * error / 2 : 0;
      Verdict& verdict = verdicts[row];
      verdict = judge(even.at_even_times(values), variance, floor, overall.unit);
      const bool counted = row < overall.object_place.size() && overall.object_place[row] != GrowthReport::kNoPlace;
      if (counted && bytes_may_hide_a_climb(verdict)) judge_objects(overall, row, even, variance, floor, verdict);
    }
  });
  return verdicts;
}

}  // namespace snapdiff::trend
