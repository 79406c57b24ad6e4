#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/diff/comparison.hpp"

namespace snapdiff::diff {

/// Which values at the sides between first and last are kept.
///   large   of all rows; counts of objects only where a row passes the byte floor (by stack: keeping
///           all of them would double the memory of a long series)
///   all     of all rows, objects too
enum class SeriesOf : std::uint8_t { none, large, all };

/// Rows before they are sorted; the vectors are parallel.
struct Grouped {
  std::vector<GrowthRow> rows;
  std::vector<CumulativeChange> cumulative;  ///< empty by stack
  std::vector<std::string> keys;             ///< empty by stack
  std::vector<double> variance;
  std::vector<std::uint32_t> unit;  ///< by stack: the unit that stands for the row
  std::vector<std::int64_t> series;
  std::size_t series_length = 0;  ///< 0: no series wanted
  std::vector<std::int64_t> object_series;
  std::vector<std::uint32_t> object_place;  ///< as in GrowthReport
};

/// One row per stack, or per key for any other `by`; GrowthRow::key is the row's number.
/// Errors: limit.
Result<Grouped> group(const Comparison& comparison, GroupBy by, SeriesOf series);

RowClass class_of(const Change& value);

}  // namespace snapdiff::diff
