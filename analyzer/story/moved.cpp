#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "analyzer/base/hash_index.hpp"
#include "analyzer/story/story_parts.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::story {
namespace {

/// Of what the growing paths of a population gained, its others lost at least this much: it was replaced, not grown.
constexpr double kReplaced = 0.6;
/// And the range of its sum is at most this share of the growth.
constexpr double kLevel = 0.45;
/// Functions at the end of a path: the one that allocates, and wrappers around the allocator.
constexpr std::size_t kPopulationDepth = 3;

/// The gain and loss of paths that end in the same functions.
struct Population {
  double gained = 0, lost = 0;
  bool may_be_replaced() const { return gained > 0 && lost >= kReplaced * gained; }
};

bool is_level(const GrowthPaths& paths, const SumJudge& judge, std::span<const std::uint32_t> population,
              double gained) {
  const std::vector<double> sums = judge.values(paths.rows(population));
  const auto [least, most] = std::minmax_element(sums.begin(), sums.end());
  return *most - *least <= kLevel * gained;
}

}  // namespace

std::vector<std::uint8_t> find_moved(const GrowthPaths& paths, const SumJudge& judge) {
  std::vector<std::uint8_t> moved(paths.size(), 0);
  double gained = 0, lost = 0;
  for (const GrowthPath& path : paths.all()) {
    const auto growth = static_cast<double>(path.growth);
    (growth > 0 ? gained : lost) += std::abs(growth);
  }
  if (gained == 0 || lost == 0) return moved;
  std::array<std::vector<std::uint64_t>, kPopulationDepth> ends;  // by depth, of each path; 0: none
  ends.fill(std::vector<std::uint64_t>(paths.size(), 0));
  for (std::size_t p = 0; p < paths.size(); ++p) {
    const auto functions = paths.functions(paths[p]);
    std::uint64_t end = 0;
    for (std::size_t depth = 0; depth < kPopulationDepth; ++depth) {
      if (depth > 0 && depth + 1 >= functions.size()) break;  // somebody has to call them
      end = mix64(end ^ (functions[functions.size() - 1 - depth] + 1)) | 1U;
      ends[depth][p] = end;
    }
  }
  // The most functions first: what was replaced below one caller says nothing of others that end in the same wrapper.
  std::vector<std::uint8_t> settled(paths.size(), 0);
  for (std::size_t depth = kPopulationDepth; depth-- > 0;) {
    const std::vector<std::uint64_t>& end = ends[depth];
    const auto first = HashIndex().add_all(
        paths.size(), [&](std::uint32_t p) { return end[p]; },
        [&](std::uint32_t a, std::uint32_t b) { return end[a] == end[b]; });
    std::vector<Population> populations(paths.size());  // by their first path
    const auto counts = [&](std::uint32_t p) { return end[p] != 0 && settled[p] == 0; };
    for (std::uint32_t p = 0; p < paths.size(); ++p) {
      if (!counts(p)) continue;
      const auto growth = static_cast<double>(paths[p].growth);
      Population& population = populations[first[p]];
      (growth > 0 ? population.gained : population.lost) += std::abs(growth);
    }
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> candidates;
    for (std::uint32_t p = 0; p < paths.size(); ++p) {
      if (counts(p) && populations[first[p]].may_be_replaced()) candidates[first[p]].push_back(p);
    }
    for (const auto& [one, population] : candidates) {
      if (!is_level(paths, judge, population, populations[one].gained)) continue;
      for (const std::uint32_t p : population) {
        settled[p] = 1;
        if (paths[p].growth > 0) moved[p] = 1;
      }
    }
  }
  return moved;
}

}  // namespace snapdiff::story
