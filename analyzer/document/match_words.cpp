#include "analyzer/document/match_words.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "analyzer/document/terms.hpp"

namespace snapdiff::document {

bool lists_types(const GrowthReport& report) {
  constexpr std::size_t kLookedAt = 64;
  std::vector<FrameView> frames;
  std::size_t bare = 0;
  const std::size_t rows = std::min(report.rows.size(), kLookedAt);
  for (std::size_t row = 0; row < rows; ++row) {
    report.frames(report.rows[row], frames);
    const bool one = frames.size() == 1 && frames.front().file.empty() && frames.front().offset == kNoOffset;
    bare += one ? 1U : 0U;
  }
  return rows > 0 && 2 * bare > rows;
}

std::string_view match_words(const GrowthReport& report, MatchTier tier) {
  if (tier != MatchTier::function_line) return tier_words(tier);
  const GrowthReport* const stacks = report.options.by == GroupBy::stack ? &report : report.by_stack.get();
  const bool types = stacks != nullptr && stacks->view != nullptr && !stacks->stacks.empty() && lists_types(*stacks);
  return types ? "by type" : tier_words(tier);
}

}  // namespace snapdiff::document
