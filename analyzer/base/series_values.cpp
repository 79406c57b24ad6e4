#include "snapdiff/series_values.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/parallel.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff {

SeriesValues::SeriesValues(std::size_t rows, std::size_t length, std::size_t known) : rows_(rows), length_(length) {
  sparse_ = length > 0 && rows > (kFree + kPerValue * known) / length;
  if (sparse_) return;
  whole_.reserve(rows * length);
  const std::size_t size = rows * length * sizeof(std::int64_t);
  prefer_large_pages(whole_.data(), size);
  constexpr std::size_t kTogether = 4 * kHugePage;
  const char* const memory = reinterpret_cast<const char*>(whole_.data());
  for_each_parallel((size + kTogether - 1) / kTogether, known, [&](std::size_t i) {
    fill_soon(memory + i * kTogether, std::min(kTogether, size - i * kTogether));
  });
  whole_.resize(rows * length, 0);
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
