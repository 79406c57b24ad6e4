#include <algorithm>
#include <cmath>
#include <span>

#include "analyzer/base/library_frames.hpp"
#include "analyzer/story/story_parts.hpp"

namespace snapdiff::story {
namespace {

constexpr double kPeak = 0.05;  // of the largest total
constexpr std::size_t kMost = 3;

/// The user's own frames of a row's stack, root first; its leaf where it has none.
std::vector<FrameView> own_frames(const GrowthReport& report, std::uint32_t row) {
  std::vector<FrameView> frames;
  report.frames(report.rows[row], frames);
  fold_library_frames(frames);
  if (!frames.empty() && frames.front().library) frames.resize(1);
  std::reverse(frames.begin(), frames.end());
  return frames;
}

struct Peak {
  std::size_t path;
  std::size_t at;
  std::int64_t height;  ///< above both ends
};

/// The values of one path after the other. Of a sparse series only those that a path's rows have are looked at.
class PathValues {
 public:
  explicit PathValues(const GrowthReport& report) : series_(report.series), values_(report.series_length, 0) {}
  double operator[](std::size_t i) const { return values_[i]; }

  /// Adds the rows to zeros; returns where the sum is largest, the first of several.
  std::size_t add_up(std::span<const std::uint32_t> rows) {
    for (const std::uint32_t row : rows) series_.add_to(values_, row);
    if (!series_.sparse())
      return static_cast<std::size_t>(std::max_element(values_.begin(), values_.end()) - values_.begin());
    std::size_t most = 0;
    for (const std::uint32_t row : rows) {
      series_.for_each(row, [&](std::size_t i, std::int64_t) {
        if (values_[i] > values_[most] || (values_[i] == values_[most] && i < most)) most = i;
      });
    }
    return most;
  }
  void clear(std::span<const std::uint32_t> rows) {
    if (!series_.sparse()) return std::fill(values_.begin(), values_.end(), 0);
    for (const std::uint32_t row : rows) series_.for_each(row, [&](std::size_t i, std::int64_t) { values_[i] = 0; });
  }

 private:
  const SeriesValues& series_;
  std::vector<double> values_;
};

}  // namespace

std::vector<Passing> find_passing(const GrowthReport& report, const GrowthPaths& paths) {
  const std::size_t n = report.series_length;
  std::vector<Passing> out;
  if (n < 3 || report.series.size() != n * report.rows.size()) return out;
  std::vector<double> totals(n, 0);
  for (std::size_t row = 0; row < report.rows.size(); ++row) report.series.add_to(totals, row);
  const double least = kPeak * *std::max_element(totals.begin(), totals.end());
  PathValues values(report);
  std::vector<Peak> peaks;
  for (std::size_t p = 0; p < paths.all().size(); ++p) {
    const std::size_t at = values.add_up(paths.rows(paths.all()[p]));
    const double height = values[at] - std::max(values[0], values[n - 1]);
    if (height > least && height > 0) peaks.push_back({p, at, std::llround(std::min(height, 9e18))});
    values.clear(paths.rows(paths.all()[p]));
  }
  std::stable_sort(peaks.begin(), peaks.end(), [](const Peak& a, const Peak& b) { return a.height > b.height; });
  if (peaks.size() > kMost) peaks.resize(kMost);
  for (const Peak& peak : peaks) {
    const auto& rows = paths.rows(paths.all()[peak.path]);
    values.add_up(rows);
    Passing found;
    found.peak = peak.height;
    for (std::size_t i = 1; i < n; ++i) {
      const auto step = [&](std::size_t at) { return values[at] - values[at - 1]; };
      if (i <= peak.at && (found.allocated == 0 || step(i) > step(found.allocated))) found.allocated = i;
      if (i > peak.at && (found.freed == 0 || step(i) < step(found.freed))) found.freed = i;
    }
    found.path = own_frames(report, rows.front());
    found.rows.assign(rows.begin(), rows.end());
    for (std::size_t i = 0; i < n; ++i) found.values.push_back(std::llround(std::clamp(values[i], -9e18, 9e18)));
    values.clear(rows);
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace snapdiff::story
