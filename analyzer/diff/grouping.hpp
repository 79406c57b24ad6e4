#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/diff/comparison.hpp"

namespace snapdiff::diff {

/// Rows before they are sorted; the vectors are parallel.
struct Grouped {
  std::vector<GrowthRow> rows;
  std::vector<CumulativeChange> cumulative;  ///< empty by stack
  std::vector<std::string> keys;             ///< empty by stack
  std::vector<double> variance;
  std::vector<std::uint32_t> unit;  ///< by stack: the unit that stands for the row
  std::vector<std::int64_t> series;
  std::size_t series_length = 0;  ///< 0: no series wanted
};

/// One row per stack, or per key for any other `by`; GrowthRow::key is the row's number.
/// `with_series`: also the values at each side. Errors: limit.
Result<Grouped> group(const Comparison& comparison, GroupBy by, bool with_series);

RowClass class_of(const Change& value);

}  // namespace snapdiff::diff
