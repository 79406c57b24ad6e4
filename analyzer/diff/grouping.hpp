#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diff/comparison.hpp"
#include "analyzer/diff/row_order.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::diff {

/// Sums that remember whether one of them did not fit.
class Adder {
 public:
  void add(std::int64_t& sum, std::int64_t value) { fits_ &= checked_add(sum, value, sum); }
  void add(Change& sum, const Change& value) {
    add(sum.baseline, value.baseline);
    add(sum.current, value.current);
  }
  /// grew or shrank, by the sign of the growth of `value`.
  void add_growth(std::int64_t& grew, std::int64_t& shrank, const Change& value) {
    std::int64_t growth = 0;
    fits_ &= checked_sub(value.current, value.baseline, growth);
    add(growth > 0 ? grew : shrank, growth);
  }
  void check(const Change& value) {
    std::int64_t growth = 0;
    fits_ &= checked_sub(value.current, value.baseline, growth);
  }
  void add(SeriesValues& sums, std::size_t row, std::size_t step, std::int64_t value) {
    fits_ &= sums.add(row, step, value);
  }
  void join(const Adder& other) { fits_ &= other.fits_; }
  bool fits() const { return fits_; }
  Status status(const Comparison& c) const { return fits_ ? ok() : Status(beyond_64_bits("growth of " + c.metric)); }

 private:
  bool fits_ = true;
};

/// The values at all sides, where a series is wanted. Counts of objects are kept of rows whose values
/// range over `object_floor` at least, or whose number of objects grew by kFloorShare of all: keeping all of them would
/// double the memory of a long series.
struct SeriesOf {
  bool wanted = false;
  std::optional<double> object_floor;  ///< empty: kFloorShare of the largest side
};

/// Rows; the vectors are parallel.
///   rows    GrowthRow::error holds the variance of the growth, and GrowthRow::sample that of both ends, were they
///           independent
///   sorted  the rows are in the order asked for
struct Grouped {
  std::vector<GrowthRow> rows;
  bool sorted = false;
  std::vector<CumulativeChange> cumulative;  ///< empty by stack
  std::vector<std::string> keys;             ///< empty by stack
  std::vector<std::uint32_t> unit;           ///< by stack and GrowthRow::key: the unit that stands for the row
  SeriesValues series;
  std::size_t series_length = 0;  ///< 0: no series wanted
  SeriesValues object_series;
  std::vector<std::uint32_t> object_place;  ///< as in GrowthReport
};

/// The order of stacks by their keys, equal ones by their text.
std::vector<std::uint32_t> order_stacks(const Comparison& comparison, const RowKeys& keys,
                                        std::span<const VisibleFrames> stacks);

/// One row per stack, or per key for any other `by`; GrowthRow::key is the row's number.
/// Errors: limit.
Result<Grouped> group(const Comparison& comparison, GroupBy by, const SeriesOf& series);

}  // namespace snapdiff::diff
