#include "analyzer/story/sum_judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "analyzer/base/parallel.hpp"

namespace snapdiff::story {
namespace {

constexpr double kExact = 9e18;    ///< sums below fit in 63 bits
constexpr std::size_t kSlice = 8;  ///< snapshots: values of a row that share a line of the cache

/// Which sets a row is in.
class SetsOfRows {
 public:
  template <class Wanted>
  SetsOfRows(std::span<const std::vector<std::uint32_t>> sets, std::size_t rows, Wanted is_wanted) : begin_(rows + 2) {
    for (const auto& set : sets) {
      if (!is_wanted(set)) continue;
      for (const std::uint32_t row : set) ++begin_[row + 2];
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    sets_.resize(begin_.back());
    for (std::uint32_t s = 0; s < sets.size(); ++s) {
      if (!is_wanted(sets[s])) continue;
      for (const std::uint32_t row : sets[s]) sets_[begin_[row + 1]++] = s;
    }
  }
  std::span<const std::uint32_t> operator[](std::size_t row) const {
    return {sets_.data() + begin_[row], begin_[row + 1] - begin_[row]};
  }
  std::size_t size() const { return sets_.size(); }

 private:
  std::vector<std::size_t> begin_;  ///< per row
  std::vector<std::uint32_t> sets_;
};

}  // namespace

SumJudge::SumJudge(const GrowthReport& report, const TimeAxis* axis) : report_(report), axis_(axis) {
  if (report.series_length >= 2 && report.series.size() == report.series_length * report.rows.size())
    length_ = report.series_length;
  double most = std::max(std::abs(static_cast<double>(report.total.baseline)),
                         std::abs(static_cast<double>(report.total.current)));
  std::vector<double> totals(length_, 0);
  range_.reserve(report.rows.size());
  for (std::size_t row = 0; row < report.rows.size(); ++row) {
    if (length_ == 0) {
      range_.push_back(std::abs(static_cast<double>(report.rows[row].value.growth())));
      continue;
    }
    report.series.add_to(totals, row);
    const auto [least, greatest] = report.series.range(row);
    most_ = std::max({most_, -static_cast<double>(least), static_cast<double>(greatest)});
    range_.push_back(static_cast<double>(greatest) - static_cast<double>(least));
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
  if (is_exact(rows.size())) {  // as integers, several of which are added at once
    std::vector<std::int64_t> whole(length_, 0);
    report_.series.sum_up(rows, whole);
    std::transform(whole.begin(), whole.end(), sums.begin(), [](std::int64_t v) { return static_cast<double>(v); });
    return sums;
  }
  for (const std::uint32_t row : rows) report_.series.add_to(sums, row);
  return sums;
}

bool SumJudge::is_exact(std::size_t rows) const { return static_cast<double>(rows) * most_ < kExact; }

std::vector<std::vector<double>> SumJudge::values_of(std::span<const std::vector<std::uint32_t>> sets) const {
  std::vector<std::vector<double>> out(sets.size());
  const auto is_fast = [&](const std::vector<std::uint32_t>& rows) {
    return length_ > 0 && !report_.series.keeps_changes() && is_exact(rows.size());
  };
  const SetsOfRows sets_of(sets, report_.rows.size(), is_fast);
  for_each_parallel(sets.size(), report_.rows.size(), [&](std::size_t s) {
    if (is_fast(sets[s])) {
      out[s].resize(length_);
    } else {
      out[s] = values(sets[s]);
    }
  });
  if (sets_of.size() == 0) return out;
  // A few snapshots at a time: the sums of all sets stay in the cache while the rows pass by.
  const std::size_t slices = (length_ + kSlice - 1) / kSlice;
  for_each_parallel(slices, sets_of.size(), [&](std::size_t slice) {
    const std::size_t first = slice * kSlice;
    const std::size_t width = std::min(kSlice, length_ - first);
    std::vector<std::int64_t> sums(sets.size() * kSlice, 0), unused;
    for (std::size_t row = 0; row < report_.rows.size(); ++row) {
      std::array<std::int64_t, kSlice> values{};
      if (sets_of[row].empty()) continue;
      std::copy_n(report_.series.row(row, unused).data() + first, width, values.begin());
      for (const std::uint32_t set : sets_of[row]) {
        std::int64_t* const sum = sums.data() + set * kSlice;
        for (std::size_t i = 0; i < kSlice; ++i) sum[i] += values[i];
      }
    }
    for (std::size_t s = 0; s < sets.size(); ++s) {
      if (!is_fast(sets[s])) continue;
      for (std::size_t i = 0; i < width; ++i) out[s][first + i] = static_cast<double>(sums[s * kSlice + i]);
    }
  });
  return out;
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
