#include "analyzer/story/sum_judge.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/base/row_values.hpp"

namespace snapdiff::story {
namespace {

constexpr double kExact = 9e18;  ///< sums below fit in 63 bits

}  // namespace

SumJudge::SumJudge(const GrowthReport& report, const TimeAxis* axis)
    : report_(report), axis_(axis), floor_(trend::floor_of(report)) {
  if (snapdiff::has_series(report) && report.series_length >= 2) length_ = report.series_length;
  for (std::uint32_t row = 0; row < report.rows.size(); ++row) {
    const auto [least, most] = range_of(report, row);
    most_ = std::max({most_, -static_cast<double>(least), static_cast<double>(most)});
  }
  object_floor_ = kFloorShare * std::max(std::abs(static_cast<double>(report.total_objects.baseline)),
                                         std::abs(static_cast<double>(report.total_objects.current)));
}

double SumJudge::range(std::uint32_t row) const {
  const auto [least, most] = range_of(report_, row);
  return static_cast<double>(most) - static_cast<double>(least);
}

std::vector<double> SumJudge::values(std::span<const std::uint32_t> rows) const {
  std::vector<double> sums(std::max<std::size_t>(length_, 2), 0);
  if (length_ > 0 && static_cast<double>(rows.size()) * most_ < kExact) {
    std::vector<std::int64_t> whole(length_, 0);  // as integers, several of which are added at once
    report_.series.sum_up(rows, whole);
    std::transform(whole.begin(), whole.end(), sums.begin(), [](std::int64_t v) { return static_cast<double>(v); });
    return sums;
  }
  for (const std::uint32_t row : rows) {
    for_each_value(report_, row, [&](std::size_t i, std::int64_t value) { sums[i] += static_cast<double>(value); });
  }
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

Verdict SumJudge::judge(std::span<const std::uint32_t> rows, const std::vector<double>& sums, double floor) const {
  const std::vector<double> objects = report_.has_objects ? counts(rows) : std::vector<double>{};
  std::vector<std::uint8_t> known;
  if (report_.series.has_unknown()) {
    known.assign(length_, 1);
    for (const std::uint32_t row : rows) report_.series.for_each_unknown(row, [&](std::size_t i) { known[i] = 0; });
  }
  trend::Points points{sums, {}, known, objects, error_of(rows), floor, report_.unit, report_.metric};
  if (axis_ != nullptr && axis_->places.size() == sums.size()) points.times = axis_->places;
  return trend::judge(points);
}

Verdict SumJudge::judge(std::span<const std::uint32_t> rows, const std::vector<double>& sums) const {
  return judge(rows, sums, floor_);
}

Verdict SumJudge::judge_type(std::span<const std::uint32_t> rows) const {
  const std::vector<double> sums = values(rows);
  Verdict plain = judge(rows, sums, floor_);
  if (plain.word == "GROWING" || length_ < 3 || !report_.has_objects) return plain;
  const std::vector<double> objects = counts(rows);
  const auto [least, most] = std::minmax_element(objects.begin(), objects.end());
  if (*most - *least < std::max(object_floor_, 1.0)) return plain;
  Verdict counted = judge(rows, sums, 0);
  return counted.word == "GROWING" ? counted : plain;
}

}  // namespace snapdiff::story
