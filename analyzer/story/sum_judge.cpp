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

Verdict SumJudge::judge_type(std::span<const std::uint32_t> rows) const {
  const std::vector<double> sums = values(rows);
  Verdict plain = judge(rows, sums);
  if (plain.word == "GROWING" || length_ < 3 || !report_.has_objects) return plain;
  std::vector<double> objects(length_, 0);
  trend::add_counts(report_, rows, objects);
  const auto [least, most] = std::minmax_element(objects.begin(), objects.end());
  if (*most - *least < std::max(object_floor_, 1.0)) return plain;
  Verdict counted = trend::judge_sum(report_, rows, sums, 0, axis_);
  return counted.word == "GROWING" ? counted : plain;
}

}  // namespace snapdiff::story
