#include "snapdiff/series_values.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/base/large_pages.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff {

SeriesValues::SeriesValues(std::size_t rows, std::size_t length, std::size_t known) : rows_(rows), length_(length) {
  sparse_ = length > 0 && rows > (kFree + kPerValue * known) / length;
  if (sparse_) return;
  resize_on_all_cores(whole_, rows * length);
}

bool SeriesValues::sort_entries() {
  runs_.assign(rows_, {});
  for (const Entry& entry : entries_) ++runs_[entry.row].count;
  std::size_t first = 0;
  for (Run& run : runs_) {
    run.first = first;
    first += std::exchange(run.count, 0);
  }
  std::vector<Entry> sorted(entries_.size());
  bool fits = true;
  for (const Entry& entry : entries_) {
    Run& run = runs_[entry.row];
    Entry* const last = run.count > 0 ? &sorted[run.first + run.count - 1] : nullptr;
    if (last != nullptr && ((last->step ^ entry.step) & ~kUnknown) == 0) {
      fits &= checked_add(last->value, entry.value, last->value);
      last->step |= entry.step & kUnknown;
    } else {
      sorted[run.first + run.count++] = entry;
    }
  }
  entries_ = std::move(sorted);
  return fits;
}

}  // namespace snapdiff
