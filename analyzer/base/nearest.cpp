#include "analyzer/base/nearest.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace snapdiff {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, row);
  }
  return last[b.size()];
}

std::string nearest_word(std::string_view word, std::span<const std::string> candidates) {
  if (word.empty() || word.size() > 64) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // The difference in length is a lower bound.
    if (candidate.size() > word.size() + best_distance) continue;
    if (const std::size_t distance = edit_distance(word, candidate); distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (!best.empty() || word.size() < 3) return best;
  const auto begins = std::find_if(candidates.begin(), candidates.end(),
                                   [&](const std::string& candidate) { return candidate.starts_with(word); });
  return begins == candidates.end() ? std::string() : *begins;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string near = nearest_word(word, candidates);
  return near.empty() || near == word ? std::string() : "; did you mean " + near + "?";
}

}  // namespace snapdiff
