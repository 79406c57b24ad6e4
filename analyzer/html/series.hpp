#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "snapdiff/postmortem.hpp"

/// The values of a report's rows at each judged snapshot, whether the report holds a series or two
/// sides, and which rows matter most. Sums are modulo 2^64: what fits is exact.
namespace snapdiff::html {

class Series {
 public:
  explicit Series(const GrowthReport& report)
      : report_(report), length_(report.series_length > 0 ? report.series_length : 2) {}
  std::size_t length() const { return length_; }
  std::size_t rows() const { return report_.rows.size(); }
  std::int64_t at(std::size_t row, std::size_t snapshot) const {
    if (report_.series_length > 0) return report_.series.at(row, snapshot);
    return snapshot == 0 ? report_.rows[row].value.baseline : report_.rows[row].value.current;
  }
  /// visit(snapshot, value) at least for all values that are not 0.
  template <class Visit>
  void for_each(std::size_t row, Visit visit) const {
    if (report_.series_length > 0) return report_.series.for_each(row, visit);
    visit(std::size_t{0}, report_.rows[row].value.baseline);
    visit(std::size_t{1}, report_.rows[row].value.current);
  }
  SeriesValues::Range range(std::size_t row) const {
    if (report_.series_length > 0) return report_.series.range(row);
    const Change& value = report_.rows[row].value;
    return {std::min(value.baseline, value.current), std::max(value.baseline, value.current)};
  }
  bool known(std::size_t row, std::size_t snapshot) const { return report_.series.known(row, snapshot); }

 private:
  const GrowthReport& report_;
  std::size_t length_;
};

/// How much a row matters: the range of its values, or what grew and shrank in it where that is more;
/// never a signed sum.
std::vector<std::uint64_t> importance(const GrowthReport& report, const Series& series);

/// Rows of the report that a page holds, in the report's order, and sums of all others.
///   others   at each snapshot
///   grew, shrank, objects   of the others, first -> last
///   rest     per snapshot: its total less the sum of all rows ([unattributed], filtered)
struct Chosen {
  std::vector<std::uint32_t> rows;
  std::vector<std::int64_t> others;
  std::size_t others_count = 0;
  std::int64_t grew = 0, shrank = 0;
  Change objects;
};

/// The `count` most important rows; ties by the report's order.
Chosen choose(const GrowthReport& report, const Series& series, const std::vector<std::uint64_t>& importance,
              std::size_t count);

/// Per judged snapshot: its total less the sum of all rows.
std::vector<std::int64_t> remainder(const Postmortem& report, const Series& series);

/// True where sums or differences of the page may pass 2^53, beyond which the browser's ordinary numbers
/// are not exact.
bool needs_big_integers(const Postmortem& report, const Series& series);

}  // namespace snapdiff::html
