#include "snapdiff/series_values.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/base/large_pages.hpp"

namespace snapdiff {

SeriesValues::SeriesValues(std::size_t rows, std::size_t length, std::size_t known, bool keep_whole)
    : rows_(rows), length_(length) {
  sparse_ = length > 0 && rows > (kFree + kPerValue * known) / length;
  if (!sparse_ && (keep_whole || rows * length <= kFree)) {
    resize_on_all_cores(whole_, rows * length);
    return;
  }
  fill_ = Fill::counts;
  runs_.resize(rows);
  open_.resize(rows);
}

bool SeriesValues::again() {
  if (fill_ == Fill::none) return false;
  for (std::size_t row = 0; row < rows_; ++row) close(row, open_[row], static_cast<std::uint32_t>(length_));
  open_.clear();
  if (std::exchange(fill_, Fill::none) == Fill::places) {
    open_.shrink_to_fit();
    return false;
  }
  std::size_t changes = 0;
  for (Run& run : runs_) {
    run.first = changes;
    changes += std::exchange(run.count, 0);
  }
  if (!sparse_ && changes * (sizeof(std::uint32_t) + sizeof(std::int64_t)) >= rows_ * length_ * sizeof(std::int64_t)) {
    runs_ = {};
    open_ = {};
    resize_on_all_cores(whole_, rows_ * length_);
    if (has_unknown_) unknown_.assign(whole_.size(), 0);
    return true;
  }
  resize_on_all_cores(steps_, changes);
  resize_on_all_cores(values_, changes);
  open_.resize(rows_);
  added_ = 0;
  fill_ = Fill::places;
  return true;
}

}  // namespace snapdiff
