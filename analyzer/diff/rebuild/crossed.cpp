#include "analyzer/diff/rebuild/crossed.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/diff/rebuild/amounts.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr std::size_t kMostCrossedOfLeaf = 48;  // rows of one side and leaf function: the heaviest
constexpr std::size_t kDeepestCrossed = 64;     // frames
constexpr std::size_t kMostLeftOut = 3;         // frames that one of the two stacks lacks
constexpr std::size_t kFewCrossed = 3;          // rows: fewer may hold as much by chance
constexpr std::size_t kMostCrossings = 32;      // for each of them all stacks are walked: those of most rows

/// The least first.
using LinePair = std::pair<std::uint32_t, std::uint32_t>;

struct CrossedStack {
  const RowAmounts* row = nullptr;
  const BuildPair::Stack* stack = nullptr;
};

/// The only two lines in which stacks of equal functions differ, but for a few frames that one of them lacks; the first
/// one is of `a`. Nothing where they differ in more, or not at all.
std::optional<LinePair> only_crossing(const BuildPair::Stack& a, const BuildPair::Stack& b) {
  const std::size_t n = a.classes.size(), m = b.classes.size();
  if (n > kDeepestCrossed || m > kDeepestCrossed || std::max(n, m) - std::min(n, m) > kMostLeftOut) return std::nullopt;
  // By frames left out, then by lines that differ.
  constexpr std::uint32_t kLeftOut = 1U << 16U;
  std::vector<std::uint32_t> cost((n + 1) * (m + 1));
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return cost[i * (m + 1) + j]; };
  const auto same = [&](std::size_t i, std::size_t j) { return a.functions[i - 1] == b.functions[j - 1]; };
  const auto step = [&](std::size_t i, std::size_t j) { return a.classes[i - 1] == b.classes[j - 1] ? 0U : 1U; };
  for (std::size_t i = 0; i <= n; ++i) {
    for (std::size_t j = 0; j <= m; ++j) {
      if (i == 0 || j == 0) {
        at(i, j) = static_cast<std::uint32_t>(i + j) * kLeftOut;
        continue;
      }
      at(i, j) = std::min(at(i - 1, j), at(i, j - 1)) + kLeftOut;
      if (same(i, j)) at(i, j) = std::min(at(i, j), at(i - 1, j - 1) + step(i, j));
    }
  }
  if (at(n, m) / kLeftOut > kMostLeftOut || at(n, m) % kLeftOut != 1) return std::nullopt;
  for (std::size_t i = n, j = m; i > 0 && j > 0;) {
    if (same(i, j) && at(i, j) == at(i - 1, j - 1) + step(i, j)) {
      if (step(i, j) != 0) return LinePair(a.classes[i - 1], b.classes[j - 1]);
      --i, --j;
    } else {
      at(i, j) == at(i - 1, j) + kLeftOut ? --i : --j;
    }
  }
  return std::nullopt;
}

/// Rows of one side alone by their leaf function.
struct CrossedLeaf {
  std::vector<CrossedStack> before, after;
};

/// The rows that say that two lines changed places: what the first line held before is in the second one now, and the
/// other way round.
struct Crossing {
  std::set<std::pair<const RowAmounts*, const RowAmounts*>> joined;
  std::set<const RowAmounts*> before, after;
  bool there = false, back = false;

  bool clear() const { return there && back && std::min(before.size(), after.size()) >= kFewCrossed; }
};

/// Leaves kMostCrossings of them.
void keep_largest(std::map<LinePair, Crossing>& crossings) {
  if (crossings.size() <= kMostCrossings) return;
  std::vector<std::pair<std::size_t, LinePair>> sizes;
  for (const auto& [lines, crossing] : crossings) sizes.emplace_back(crossing.joined.size(), lines);
  std::nth_element(sizes.begin(), sizes.begin() + kMostCrossings - 1, sizes.end(), std::greater<>());
  const std::pair<std::size_t, LinePair> least = sizes[kMostCrossings - 1];
  std::erase_if(crossings, [&](const auto& one) { return std::pair(one.second.joined.size(), one.first) < least; });
}

std::map<LinePair, Crossing> find_crossings(const std::vector<RowAmounts>& all, const BuildPair::Stacks& before,
                                            const BuildPair::Stacks& after, const BuildPair& pair) {
  std::unordered_map<std::uint32_t, CrossedLeaf> leaves;
  const auto add = [&](const BuildPair::Stacks& stacks, std::vector<CrossedStack> CrossedLeaf::*of_side) {
    for (const BuildPair::Stack& stack : stacks) {
      if (stack.functions.empty()) continue;
      std::vector<CrossedStack>& of_leaf = leaves[stack.functions.front()].*of_side;
      if (of_leaf.size() < kMostCrossedOfLeaf) of_leaf.push_back({&all[stack.row], &stack});
    }
  };
  add(before, &CrossedLeaf::before);
  add(after, &CrossedLeaf::after);
  std::map<LinePair, Crossing> out;
  for (const auto& [function, leaf] : leaves) {
    for (const CrossedStack& a : leaf.before) {
      for (const CrossedStack& b : leaf.after) {
        if (went_on(*a.row, *b.row) != Vote::yes) continue;
        const std::optional<LinePair> lines = only_crossing(*a.stack, *b.stack);
        if (!lines || !pair.is_paired(lines->first) || !pair.is_paired(lines->second)) continue;
        Crossing& crossing = out[std::minmax(lines->first, lines->second)];
        (lines->first < lines->second ? crossing.there : crossing.back) = true;
        crossing.before.insert(a.row);
        crossing.after.insert(b.row);
        crossing.joined.emplace(a.row, b.row);
      }
    }
  }
  std::erase_if(out, [](const auto& one) { return !one.second.clear(); });
  keep_largest(out);
  return out;
}

/// A stack through one of two lines, as if they were one.
std::optional<std::uint64_t> without(const LinePair& lines, const BuildPair::Stack& stack) {
  std::uint64_t rest = 0;
  bool any = false;
  for (const std::uint32_t line : stack.classes) {
    const bool crossed = line == lines.first || line == lines.second;
    any = any || crossed;
    rest = add_to_run(rest, crossed ? lines.first : line);
  }
  return any ? std::optional(rest) : std::nullopt;
}

}  // namespace

void merge_crossed(const Comparison& c, std::size_t s, BuildPair& pair, RowUnion& rows) {
  if (!pair.lines_tell() || c.sides[s].objects.empty() || c.sides[s + 1].objects.empty()) return;
  std::vector<RowAmounts> all = amounts_of_rows(c, s, rows);
  std::sort(all.begin(), all.end(), heavier);
  const auto stacks_of = [&](bool after, bool of_both) {
    std::vector<BuildPair::Left> entries;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      const std::uint32_t entry = after ? all[i].entry_after : all[i].entry_before;
      if (entry != kNone && (of_both || !all[i].on_both_sides())) entries.push_back({i, entry});
    }
    return pair.stacks_of(entries, after);
  };
  const std::map<LinePair, Crossing> crossings =
      find_crossings(all, stacks_of(false, false), stacks_of(true, false), pair);
  if (crossings.empty()) return;
  const auto join = [&rows](const RowAmounts& x, const RowAmounts& y) {
    if (rows.find(x.unit) != rows.find(y.unit)) rows.join(x.unit, y.unit, MatchTier::merged);
  };
  const BuildPair::Stacks in_before = stacks_of(false, true), in_after = stacks_of(true, true);
  for (const auto& [lines, crossing] : crossings) {
    for (const auto& [a, b] : crossing.joined) join(*a, *b);
    // All that differs in these lines alone, whoever calls the function.
    std::unordered_map<std::uint64_t, const RowAmounts*> by_rest;
    for (const BuildPair::Stacks* stacks : {&in_before, &in_after}) {
      for (const BuildPair::Stack& stack : *stacks) {
        const std::optional<std::uint64_t> rest = without(lines, stack);
        if (rest) join(*by_rest.try_emplace(*rest, &all[stack.row]).first->second, all[stack.row]);
      }
    }
  }
}

}  // namespace snapdiff::diff::rebuild
