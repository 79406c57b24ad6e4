#include "analyzer/story/sum_judge.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/trend/resample.hpp"

namespace snapdiff::story {

SumJudge::SumJudge(const GrowthReport& report, const TimeAxis* axis) : report_(report), axis_(axis) {
  if (report.series_length >= 2 && report.series.size() == report.series_length * report.rows.size())
    length_ = report.series_length;
  double most = std::max(std::abs(static_cast<double>(report.total.baseline)),
                         std::abs(static_cast<double>(report.total.current)));
  std::vector<double> totals(length_, 0);
  for (std::size_t row = 0; length_ > 0 && row < report.rows.size(); ++row) {
    for (std::size_t i = 0; i < length_; ++i) totals[i] += static_cast<double>(report.series[row * length_ + i]);
  }
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
  for (const std::uint32_t row : rows) {
    const std::int64_t* const values = report_.series.data() + row * length_;
    for (std::size_t i = 0; i < length_; ++i) sums[i] += static_cast<double>(values[i]);
  }
  return sums;
}

std::vector<double> SumJudge::counts(std::span<const std::uint32_t> rows) const {
  std::vector<double> sums(length_, 0);
  for (const std::uint32_t row : rows) {
    if (row >= report_.object_place.size() || report_.object_place[row] == GrowthReport::kNoPlace) continue;
    const std::int64_t* const values = report_.object_series.data() + report_.object_place[row] * length_;
    for (std::size_t i = 0; i < length_; ++i) sums[i] += static_cast<double>(values[i]);
  }
  return sums;
}

double SumJudge::range(std::uint32_t row) const {
  if (length_ == 0) return std::abs(static_cast<double>(report_.rows[row].value.growth()));
  const std::int64_t* const values = report_.series.data() + row * length_;
  const auto [least, most] = std::minmax_element(values, values + length_);
  return static_cast<double>(*most) - static_cast<double>(*least);
}

void SumJudge::judge_counts(std::span<const std::uint32_t> rows, const std::vector<double>& values, double variance,
                            double floor, Verdict& verdict) const {
  if (!report_.has_objects || report_.objects_metric == report_.metric) return;
  const std::vector<double> objects = counts(rows);
  double bytes = 0, number = 0;
  for (std::size_t i = 0; i < length_; ++i) {
    bytes += values[i];
    number += objects[i];
  }
  if (!(bytes > 0) || !(number > 0)) return;
  const double size = bytes / number;
  const trend::Resampler even(axis_, length_);
  const Verdict counted =
      trend::judge(even.at_even_times(objects), variance / (size * size) + 1.0 / 12,
                                       std::min(floor / size, std::max(object_floor_, 1.0)), "count");
  if (counted.word != "GROWING") return;
  verdict.reason = "counted in objects: " + counted.reason + "; by " + report_.metric + " alone " + verdict.word;
  verdict.word = counted.word;
  verdict.p = counted.p;
  verdict.rise = std::max(verdict.rise, counted.rise * size);
  verdict.by_objects = true;
}

double SumJudge::variance(std::span<const std::uint32_t> rows) const {
  double sum = 0;
  for (const std::uint32_t row : rows) {
    const double error = report_.rows[row].error;
    if (report_.has_error && std::isfinite(error)) sum += error * error / 2;
  }
  return sum;
}

Verdict SumJudge::judge(std::span<const std::uint32_t> rows) const {
  const std::vector<double> sums = values(rows);
  const double noise = variance(rows);
  const trend::Resampler even(axis_, std::max<std::size_t>(length_, 2));
  Verdict verdict = trend::judge(even.at_even_times(sums), noise, floor_, report_.unit);
  const std::string& word = verdict.word;
  if (length_ >= 3 && (word == "RISING" || word == "NOISY" || word == "FLAT" || word == "STEP"))
    judge_counts(rows, sums, noise, floor_, verdict);
  return verdict;
}

Verdict SumJudge::judge_type(std::span<const std::uint32_t> rows) const {
  const Verdict plain = judge(rows);
  if (plain.word == "GROWING" || length_ < 3) return plain;
  const std::vector<double> sums = values(rows);
  const trend::Resampler even(axis_, length_);
  Verdict counted = trend::judge(even.at_even_times(sums), variance(rows), 0, report_.unit);
  counted.word = plain.word;
  judge_counts(rows, sums, variance(rows), floor_, counted);
  return counted.by_objects ? counted : plain;
}

}  // namespace snapdiff::story
