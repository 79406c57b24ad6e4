#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/trend/verdict.hpp"
#include "snapdiff/parallel.hpp"

namespace snapdiff::trend {

namespace {

/// The largest snapshot, as far as the rows say, and the totals at both ends.
double largest_total(const GrowthReport& report) {
  double most = std::max(std::abs(static_cast<double>(report.total.baseline)),
                         std::abs(static_cast<double>(report.total.current)));
  std::vector<double> totals(report.series_length, 0);
  for (std::size_t row = 0; row < report.rows.size(); ++row) {
    report.series.add_to(totals, row);
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

/// Whether each row is judged: of a sparse series those with the widest ranges, as many as can be looked at whole.
std::vector<bool> judged_rows(const GrowthReport& report) {
  const std::size_t rows = report.rows.size();
  const std::size_t count = report.series.whole_rows();
  std::vector<bool> judged(rows, count >= rows);
  if (count >= rows) return judged;
  std::vector<std::uint64_t> ranges(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const SeriesValues::Range range = report.series.range(row);
    ranges[row] = static_cast<std::uint64_t>(range.most) - static_cast<std::uint64_t>(range.least);
  }
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(order.begin(), end, order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return ranges[a] != ranges[b] ? ranges[a] > ranges[b] : a < b;
  });
  std::for_each(order.begin(), end, [&](std::uint32_t row) { judged[row] = true; });
  return judged;
}

}  // namespace

std::vector<Verdict> judge_rows(const GrowthReport& overall, const TimeAxis* axis, std::optional<double> wanted) {
  std::vector<Verdict> verdicts;
  const std::size_t n = overall.series_length;
  if (n == 0 || overall.series.size() != n * overall.rows.size()) return verdicts;
  const double floor = wanted ? *wanted : kFloorShare * largest_total(overall);
  const bool uneven = axis != nullptr && axis->places.size() == n;
  verdicts.resize(overall.rows.size());
  const std::vector<bool> judged = judged_rows(overall);
  constexpr std::size_t kBlock = 1024;
  const std::size_t blocks = (verdicts.size() + kBlock - 1) / kBlock;
  for_each_parallel(blocks, verdicts.size(), [&](std::size_t block) {
    std::vector<double> values(n), counts(n);
    std::vector<std::int64_t> scratch;
    std::vector<std::uint8_t> known;
    const std::size_t end = std::min(verdicts.size(), (block + 1) * kBlock);
    for (std::size_t row = block * kBlock; row < end; ++row) {
      if (!judged[row]) {
        verdicts[row].reason = "one of many rows that are seldom there: the heaviest alone are judged";
        continue;
      }
      const std::span<const std::int64_t> whole = overall.series.row(row, scratch);
      std::copy(whole.begin(), whole.end(), values.begin());
      Points points{values, {}, {}, {}, error_of(overall, overall.rows[row]), floor, overall.unit, overall.metric};
      if (uneven) points.times = axis->places;
      if (overall.series.has_unknown()) {
        overall.series.known_row(row, known);
        points.known = known;
      }
      if (row < overall.object_place.size() && overall.object_place[row] != GrowthReport::kNoPlace) {
        const std::span<const std::int64_t> objects = overall.object_series.row(overall.object_place[row], scratch);
        std::copy(objects.begin(), objects.end(), counts.begin());
        points.counts = counts;
      }
      verdicts[row] = judge(points);
    }
  });
  return verdicts;
}

}  // namespace snapdiff::trend
