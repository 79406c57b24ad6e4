#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "snapdiff/growth.hpp"

/// The values of a report's rows at each snapshot, whether it holds a series or two sides.
namespace snapdiff {

/// Whether it has a value for each snapshot; else each row has two, those of its ends.
inline bool has_series(const GrowthReport& report) {
  return report.series_length > 0 && report.series.size() == report.rows.size() * report.series_length;
}

inline std::size_t value_count(const GrowthReport& report) { return has_series(report) ? report.series_length : 2; }

/// visit(snapshot, value) at least for all values that are not 0.
template <class Visit>
void for_each_value(const GrowthReport& report, std::size_t row, const Visit& visit) {
  if (has_series(report)) return report.series.for_each(row, visit);
  visit(std::size_t{0}, report.rows[row].value.baseline);
  visit(std::size_t{1}, report.rows[row].value.current);
}

inline std::int64_t value_at(const GrowthReport& report, std::size_t row, std::size_t snapshot) {
  if (has_series(report)) return report.series.at(row, snapshot);
  return snapshot == 0 ? report.rows[row].value.baseline : report.rows[row].value.current;
}

inline std::vector<std::int64_t> values_of(const GrowthReport& report, std::size_t row) {
  if (has_series(report)) return report.series.values(row);
  return {report.rows[row].value.baseline, report.rows[row].value.current};
}

inline SeriesValues::Range range_of(const GrowthReport& report, std::size_t row) {
  if (has_series(report)) return report.series.range(row);
  const Change& value = report.rows[row].value;
  return {std::min(value.baseline, value.current), std::max(value.baseline, value.current)};
}

}  // namespace snapdiff
