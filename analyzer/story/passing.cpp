#include "analyzer/story/passing.hpp"

#include <algorithm>
#include <cmath>

namespace snapdiff::story {
namespace {

constexpr double kPeak = 0.05;  // of the largest total
constexpr std::size_t kMost = 3;

std::vector<FrameView> own_frames(const GrowthReport& report, std::uint32_t row) {
  std::vector<FrameView> frames, out;
  report.frames(report.rows[row], frames);
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    if (!frame->library) out.push_back(*frame);
  }
  if (out.empty() && !frames.empty()) out.push_back(frames.front());
  return out;
}

}  // namespace

std::vector<Passing> find_passing(const GrowthReport& report, const GrowthPaths& paths) {
  const std::size_t n = report.series_length;
  std::vector<Passing> out;
  if (n < 3 || report.series.size() != n * report.rows.size()) return out;
  std::vector<double> totals(n, 0);
  for (std::size_t row = 0; row < report.rows.size(); ++row) {
    for (std::size_t i = 0; i < n; ++i) totals[i] += static_cast<double>(report.series[row * n + i]);
  }
  const double least = kPeak * *std::max_element(totals.begin(), totals.end());
  std::vector<double> values(n);
  for (const GrowthPath& path : paths.all()) {
    std::fill(values.begin(), values.end(), 0);
    for (const std::uint32_t row : paths.rows(path)) {
      for (std::size_t i = 0; i < n; ++i) values[i] += static_cast<double>(report.series[row * n + i]);
    }
    const auto peak = static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
    const double height = values[peak] - std::max(values.front(), values.back());
    if (height <= least || height <= 0) continue;
    Passing found;
    found.peak = std::llround(std::min(height, 9e18));
    for (std::size_t i = 1; i < n; ++i) {
      const auto step = [&](std::size_t at) { return values[at] - values[at - 1]; };
      if (i <= peak && (found.allocated == 0 || step(i) > step(found.allocated))) found.allocated = i;
      if (i > peak && (found.freed == 0 || step(i) < step(found.freed))) found.freed = i;
    }
    found.path = own_frames(report, paths.rows(path).front());
    out.push_back(std::move(found));
  }
  std::stable_sort(out.begin(), out.end(), [](const Passing& a, const Passing& b) { return a.peak > b.peak; });
  if (out.size() > kMost) out.resize(kMost);
  return out;
}

}  // namespace snapdiff::story
