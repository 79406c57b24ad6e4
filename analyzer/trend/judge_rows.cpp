#include <algorithm>
#include <cmath>

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

/// What is known of the error of a row's values. The report's error is that of a difference of two snapshots.
PointError error_of(const GrowthReport& report, const GrowthRow& row) {
  if (!report.has_error || !std::isfinite(row.error)) return {};
  if (report.rounded) return {row.error * row.error / 2, 0};
  return {0, row.sample};
}

}  // namespace

std::vector<Verdict> judge_rows(const GrowthReport& overall, const TimeAxis* axis, std::optional<double> wanted) {
  std::vector<Verdict> verdicts;
  const std::size_t n = overall.series_length;
  if (n == 0 || overall.series.size() != n * overall.rows.size()) return verdicts;
  const double floor = wanted ? *wanted : kFloorShare * largest_total(overall);
  const bool uneven = axis != nullptr && !axis->even && axis->seconds.size() == n;
  verdicts.resize(overall.rows.size());
  constexpr std::size_t kBlock = 1024;
  const std::size_t blocks = (verdicts.size() + kBlock - 1) / kBlock;
  for_each_parallel(blocks, verdicts.size(), [&](std::size_t block) {
    std::vector<double> values(n), counts(n);
    const std::size_t end = std::min(verdicts.size(), (block + 1) * kBlock);
    for (std::size_t row = block * kBlock; row < end; ++row) {
      std::copy_n(overall.series.begin() + static_cast<std::ptrdiff_t>(row * n), n, values.begin());
      Points points{values, {}, {}, {}, error_of(overall, overall.rows[row]), floor, overall.unit, overall.metric};
      if (uneven) points.times = axis->seconds;
      if (!overall.series_known.empty()) points.known = std::span(overall.series_known).subspan(row * n, n);
      if (row < overall.object_place.size() && overall.object_place[row] != GrowthReport::kNoPlace) {
        const std::size_t first = std::size_t{overall.object_place[row]} * n;
        std::copy_n(overall.object_series.begin() + static_cast<std::ptrdiff_t>(first), n, counts.begin());
        points.counts = counts;
      }
      verdicts[row] = judge(points);
    }
  });
  return verdicts;
}

}  // namespace snapdiff::trend
