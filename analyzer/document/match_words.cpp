#include "analyzer/document/match_words.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "analyzer/document/terms.hpp"

namespace snapdiff::document {

namespace {

template <class Report>
bool most_are_bare(const Report& report) {
  constexpr std::size_t kLookedAt = 64;
  if (report.view == nullptr || report.stacks.empty()) return false;
  std::vector<FrameView> frames;
  std::size_t bare = 0;
  const std::size_t rows = std::min(report.rows.size(), kLookedAt);
  for (std::size_t row = 0; row < rows; ++row) {
    report.view->frames(report.stacks[report.rows[row].key], frames);
    const bool one = frames.size() == 1 && frames.front().file.empty() && frames.front().offset == kNoOffset;
    bare += one ? 1U : 0U;
  }
  return rows > 0 && 2 * bare > rows;
}

}  // namespace

bool lists_types(const GrowthReport& report) { return most_are_bare(report); }
bool lists_types(const TopReport& report) { return most_are_bare(report); }

std::string_view match_words(const GrowthReport& report, MatchTier tier) {
  if (tier != MatchTier::function_line) return tier_words(tier);
  const GrowthReport* const stacks = report.options.by == GroupBy::stack ? &report : report.by_stack.get();
  return stacks != nullptr && lists_types(*stacks) ? "by type" : tier_words(tier);
}

}  // namespace snapdiff::document
