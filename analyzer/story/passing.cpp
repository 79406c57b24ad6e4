#include <algorithm>
#include <span>

#include "analyzer/base/library_frames.hpp"
#include "analyzer/base/number_text.hpp"
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
  std::span<const std::uint32_t> rows;
  std::size_t at;
  double height;  ///< above both ends
};

}  // namespace

std::vector<Passing> find_passing(const GrowthPaths& paths, const SumJudge& judge) {
  std::vector<Passing> out;
  if (!judge.has_series()) return out;
  const double least = kPeak / kFloorShare * judge.floor();
  std::vector<Peak> peaks;
  for (const GrowthPath& path : paths.all()) {
    if (path.peak <= least) continue;  // it never held so much
    const std::vector<double> values = judge.values(paths.rows(path));
    const auto most = std::max_element(values.begin(), values.end());
    const double height = *most - std::max(values.front(), values.back());
    if (height > least) peaks.push_back({paths.rows(path), static_cast<std::size_t>(most - values.begin()), height});
  }
  std::stable_sort(peaks.begin(), peaks.end(), [](const Peak& a, const Peak& b) { return a.height > b.height; });
  if (peaks.size() > kMost) peaks.resize(kMost);
  for (const Peak& peak : peaks) {
    const std::vector<double> values = judge.values(peak.rows);
    const auto step = [&](std::size_t at) { return values[at] - values[at - 1]; };
    Passing& found = out.emplace_back();
    found.peak = whole_number(peak.height);
    for (std::size_t i = 1; i < values.size(); ++i) {
      if (i <= peak.at && (found.allocated == 0 || step(i) > step(found.allocated))) found.allocated = i;
      if (i > peak.at && (found.freed == 0 || step(i) < step(found.freed))) found.freed = i;
    }
    found.path = own_frames(paths.report(), peak.rows.front());
    found.rows.assign(peak.rows.begin(), peak.rows.end());
    for (const double value : values) found.values.push_back(whole_number(value));
  }
  return out;
}

}  // namespace snapdiff::story
