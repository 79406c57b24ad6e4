#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/trend/verdict.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/trend.hpp"

namespace snapdiff::story {

/// Verdicts of sums of rows, made as trend makes those of single rows. Any number of threads may ask at once.
class SumJudge {
 public:
  /// `axis` may be null.
  SumJudge(const GrowthReport& report, const TimeAxis* axis);

  /// The report has values at three snapshots or more.
  bool has_series() const { return length_ >= 3; }
  /// How many sums can be judged in proportion to the values that there are.
  std::size_t most_judged() const { return report_.series.whole_rows(); }
  /// There are enough of them for a verdict word.
  bool is_judged() const { return length_ >= kJudgedFrom; }
  /// The smallest range worth judging, in the metric's unit.
  double floor() const { return floor_; }

  /// Sums over rows, one value per snapshot; the two ends where there is no series.
  std::vector<double> values(std::span<const std::uint32_t> rows) const;
  /// Of those sums; without a word below three snapshots.
  Verdict judge(std::span<const std::uint32_t> rows) const { return judge(rows, values(rows)); }
  Verdict judge(std::span<const std::uint32_t> rows, const std::vector<double>& sums) const {
    return trend::judge_sum(report_, rows, sums, floor_, axis_);
  }
  /// Of types, whose number says more than their bytes: a type whose objects climb by kFloorShare of all objects is
  /// judged by its counts, however small they are.
  Verdict judge_type(std::span<const std::uint32_t> rows) const;
  /// Largest minus smallest value of one row.
  double range(std::uint32_t row) const;

 private:
  const GrowthReport& report_;
  const TimeAxis* axis_;
  std::size_t length_ = 0;
  double floor_ = 0;
  double object_floor_ = 0;
  double most_ = 0;  ///< of all values, without their signs
};

}  // namespace snapdiff::story
