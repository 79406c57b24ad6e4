#include <algorithm>
#include <cmath>

#include "analyzer/trend/resample.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::trend {

namespace {

/// The largest snapshot, as far as the rows tell, and the totals at both ends.
double largest_total(const GrowthReport& report) {
  double most = std::max(std::abs(static_cast<double>(report.total.baseline)),
                         std::abs(static_cast<double>(report.total.current)));
  std::vector<double> totals(report.series_length, 0);
  for (std::size_t i = 0; i < report.series.size(); ++i) {
    totals[i % report.series_length] += static_cast<double>(report.series[i]);
  }
  for (const double total : totals) most = std::max(most, std::abs(total));
  return most;
}

}  // namespace

std::vector<Verdict> judge_rows(const GrowthReport& overall, const TimeAxis* axis) {
  std::vector<Verdict> verdicts;
  const std::size_t n = overall.series_length;
  if (n == 0 || overall.series.size() != n * overall.rows.size()) return verdicts;
  const double floor = kFloorShare * largest_total(overall);
  verdicts.reserve(overall.rows.size());
  const Resampler even(axis, n);
  std::vector<double> values(n);
  for (std::size_t row = 0; row < overall.rows.size(); ++row) {
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(overall.series[row * n + i]);
    // The row's error is that of a difference of two snapshots: two variances.
    const double error = overall.rows[row].error;
    const double variance = overall.has_error && std::isfinite(error) ? error * error / 2 : 0;
    verdicts.push_back(judge(even.at_even_times(values), variance, floor, overall.unit));
  }
  return verdicts;
}

}  // namespace snapdiff::trend
