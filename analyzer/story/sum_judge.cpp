#include "analyzer/story/sum_judge.hpp"

#include <algorithm>
#include <cmath>

namespace snapdiff::story {

SumJudge::SumJudge(const GrowthReport& report, const TimeAxis* axis) : report_(report), axis_(axis) {
  if (report.series_length >= 2 && report.series.size() == report.series_length * report.rows.size())
    length_ = report.series_length;
  double most = std::max(std::abs(static_cast<double>(report.total.baseline)),
                         std::abs(static_cast<double>(report.total.current)));
  std::vector<double> totals(length_, 0);
  for (std::size_t row = 0; length_ > 0 && row < report.rows.size(); ++row) report.series.add_to(totals, row);
  for (const double total : totals) most = std::max(most, std::abs(total));
  floor_ = kFloorShare * most;
  object_floor_ = kFloorShare * std::max(std::abs(static_cast<double>(report.total_objects.baseline)),
                                         std::abs(static_cast<double>(report.total_objects.current)));
}

std::vector<double> SumJudge::values(std::span<const std::uint32_t> rows) const {
  if (length_ == 0) {
    std::vector<double> ends(2, 0);
    for (const std::uint32_t row : rows) {
      ends[0] += static_cast<double>(report_.rows[row].value.baseline);
      ends[1] += static_cast<double>(report_.rows[row].value.current);
    }
    return ends;
  }
  std::vector<double> sums(length_, 0);
  for (const std::uint32_t row : rows) report_.series.add_to(sums, row);
  return sums;
}

std::vector<double> SumJudge::counts(std::span<const std::uint32_t> rows) const {
  std::vector<double> sums(length_, 0);
  for (const std::uint32_t row : rows) {
    if (row >= report_.object_place.size() || report_.object_place[row] == GrowthReport::kNoPlace) continue;
    report_.object_series.add_to(sums, report_.object_place[row]);
  }
  return sums;
}

double SumJudge::range(std::uint32_t row) const {
  if (length_ == 0) return std::abs(static_cast<double>(report_.rows[row].value.growth()));
  const auto [least, most] = report_.series.range(row);
  return static_cast<double>(most) - static_cast<double>(least);
}

trend::PointError SumJudge::error_of(std::span<const std::uint32_t> rows) const {
  trend::PointError error;
  if (!report_.has_error) return error;
  double weighed = 0, bytes = 0;
  for (const std::uint32_t r : rows) {
    const GrowthRow& row = report_.rows[r];
    if (!std::isfinite(row.error)) return {};
    // The report's error is that of a difference of two snapshots.
    if (report_.rounded) error.variance += row.error * row.error / 2;
    const double weight = std::max(static_cast<double>(row.value.baseline), static_cast<double>(row.value.current));
    weighed += row.sample * weight;
    bytes += weight;
  }
  if (!report_.rounded && bytes > 0) error.sample = weighed / bytes;
  return error;
}

Verdict SumJudge::judge(std::span<const std::uint32_t> rows, double floor, bool with_counts) const {
  const std::vector<double> sums = values(rows);
  const std::vector<double> objects = with_counts && report_.has_objects ? counts(rows) : std::vector<double>{};
  std::vector<std::uint8_t> known;
  if (report_.series.has_unknown()) {
    known.assign(length_, 1);
    for (const std::uint32_t row : rows) report_.series.for_each_unknown(row, [&](std::size_t i) { known[i] = 0; });
  }
  trend::Points points{sums, {}, known, objects, error_of(rows), floor, report_.unit, report_.metric};
  if (axis_ != nullptr && !axis_->even && axis_->seconds.size() == sums.size()) points.times = axis_->seconds;
  return trend::judge(points);
}

Verdict SumJudge::judge(std::span<const std::uint32_t> rows) const { return judge(rows, floor_, true); }

Verdict SumJudge::judge_type(std::span<const std::uint32_t> rows) const {
  const Verdict plain = judge(rows, floor_, true);
  if (plain.word == "GROWING" || length_ < 3 || !report_.has_objects) return plain;
  const std::vector<double> objects = counts(rows);
  const auto [least, most] = std::minmax_element(objects.begin(), objects.end());
  if (*most - *least < std::max(object_floor_, 1.0)) return plain;
  const Verdict counted = judge(rows, 0, true);
  return counted.word == "GROWING" ? counted : plain;
}

}  // namespace snapdiff::story
