#include <string>
#include <vector>

#include "analyzer/story/prose.hpp"
#include "analyzer/story/story_parts.hpp"

namespace snapdiff::story {
namespace {

/// Bytes through a function at each of all snapshots.
std::vector<double> values_through(const GrowthReport& all, const FrameView& function) {
  std::vector<double> values(all.series_length, 0);
  std::vector<FrameView> frames;
  for (std::uint32_t row = 0; row < all.rows.size(); ++row) {
    all.frames(all.rows[row], frames);
    for (const FrameView& frame : frames) {
      if (frame.function != function.function || frame.file != function.file) continue;
      all.series.add_to(values, row);
      break;
    }
  }
  return values;
}

}  // namespace

void tell_lives(const TrendReport& trend, Story& story) {
  if (trend.all == nullptr || trend.all->options.by != GroupBy::stack || trend.all->series_length < kJudgedFrom) return;
  for (Culprit& culprit : story.culprits) {
    if (!trend::climbs(culprit.verdict) || culprit.path.empty() || culprit.path.back().function.empty()) continue;
    const std::vector<double> values = values_through(*trend.all, culprit.path.back());
    std::size_t lives = 0, climbing = 0;
    for (const Life& life : trend.lives) {
      if (life.size() < kJudgedFrom) continue;
      ++lives;
      const std::span<const double> part = std::span(values).subspan(life.first, life.size());
      climbing += trend::climbs(trend::judge({part, {}, {}, {}, trend::error_of_total(*trend.all)})) ? 1U : 0U;
    }
    if (lives < 2) continue;
    culprit.text.spread = "grew in " + std::to_string(climbing) + " of " + std::to_string(lives) + " lives";
  }
}

}  // namespace snapdiff::story
