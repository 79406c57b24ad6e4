#include "analyzer/diff/fuzzy_match.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

namespace snapdiff::diff {
namespace {

constexpr double kSame = 0.9;       // algorithms.md section 1, stage 3
constexpr double kPossible = 0.55;  // the same
constexpr double kDecay = 0.9;      // per frame from the leaf: 48 frames on, a frame weighs less than 1 %
constexpr std::size_t kDeepest = 48;
constexpr double kOtherLine = 0.97;  // a function whose line is gone, against one whose line is new
constexpr std::size_t kMostStacks = 1000;
constexpr std::size_t kMostCandidates = 32;
constexpr std::size_t kRarest = 4;

using Rare = std::array<Hash128, kRarest>;

double frame_likeness(FrameId a, const FrameIdentities& in_a, FrameId b, const FrameIdentities& in_b) {
  const std::size_t i = index_of(a);
  const std::size_t j = index_of(b);
  if (in_a.exact[i] == in_b.exact[j] || in_a.normalised[i] == in_b.normalised[j]) return 1;
  const bool both_missing = (in_a.flags[i] & in_b.flags[j] & FrameIdentities::kMissing) != 0;
  return both_missing && in_a.function[i] == in_b.function[j] ? kOtherLine : 0;
}

std::vector<std::size_t> heaviest(std::span<const Leftover> stacks, std::int64_t floor) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (std::abs(static_cast<double>(stacks[i].value)) >= static_cast<double>(floor) && stacks[i].frames.size > 0)
      order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double size_a = std::abs(static_cast<double>(stacks[a].value));
    const double size_b = std::abs(static_cast<double>(stacks[b].value));
    return size_a != size_b ? size_a > size_b : stacks[a].exact < stacks[b].exact;
  });
  if (order.size() > kMostStacks) order.resize(kMostStacks);
  return order;
}

/// The functions of a stack that fewest of all stacks hold.
Rare rarest(const VisibleFrames& frames, const FrameIdentities& in,
            const std::unordered_map<Hash128, std::size_t>& count) {
  std::vector<std::pair<std::size_t, Hash128>> found;
  for (std::size_t i = 0; i < std::min<std::size_t>(frames.size, kDeepest); ++i) {
    const Hash128& function = in.function[index_of(frames.data[i])];
    found.emplace_back(count.at(function), function);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  Rare rare{};
  for (std::size_t i = 0; i < std::min(found.size(), kRarest); ++i) rare[i] = found[i].second;
  return rare;
}

struct Scored {
  double score;
  std::uint32_t before, after;
};

}  // namespace

double likeness(const VisibleFrames& a, const FrameIdentities& in_a, const VisibleFrames& b,
                const FrameIdentities& in_b) {
  const std::size_t n = std::min<std::size_t>(a.size, kDeepest);
  const std::size_t m = std::min<std::size_t>(b.size, kDeepest);
  std::array<double, kDeepest> weight{};
  double w = 1;
  double whole = 0;
  for (std::size_t i = 0; i < kDeepest; ++i, w *= kDecay) {
    weight[i] = w;
    if (i < n) whole += w;
    if (i < m) whole += w;
  }
  if (whole <= 0) return 0;
  std::array<double, kDeepest + 1> row{}, next{};
  for (std::size_t i = 0; i < n; ++i) {
    next[0] = 0;
    for (std::size_t j = 0; j < m; ++j) {
      const double like = frame_likeness(a.data[i], in_a, b.data[j], in_b);
      const double paired = row[j] + like * (weight[i] + weight[j]);
      next[j + 1] = std::max({row[j + 1], next[j], paired});
    }
    row = next;
  }
  return row[m] / whole;
}

FuzzyPairs match_fuzzily(std::span<const Leftover> before, const FrameIdentities& in_before,
                         std::span<const Leftover> after, const FrameIdentities& in_after, std::int64_t floor) {
  const std::vector<std::size_t> from = heaviest(before, floor);
  const std::vector<std::size_t> to = heaviest(after, floor);
  std::unordered_map<Hash128, std::size_t> count;
  const auto tally = [&](const Leftover& stack, const FrameIdentities& in) {
    for (std::size_t i = 0; i < std::min<std::size_t>(stack.frames.size, kDeepest); ++i) {
      ++count[in.function[index_of(stack.frames.data[i])]];
    }
  };
  for (const std::size_t i : from) tally(before[i], in_before);
  for (const std::size_t j : to) tally(after[j], in_after);

  std::unordered_map<Hash128, std::vector<std::uint32_t>> by_leaf, by_rare;
  for (std::uint32_t j = 0; j < to.size(); ++j) {
    const VisibleFrames& frames = after[to[j]].frames;
    by_leaf[in_after.function[index_of(frames.data[0])]].push_back(j);
    for (const Hash128& function : rarest(frames, in_after, count)) {
      if (function != Hash128{}) by_rare[function].push_back(j);
    }
  }

  std::vector<Scored> scored;
  std::map<std::uint32_t, int> shared;  // candidate -> rare frames in common, 100 for the leaf
  for (std::uint32_t i = 0; i < from.size(); ++i) {
    const VisibleFrames& frames = before[from[i]].frames;
    shared.clear();
    for (const Hash128& function : rarest(frames, in_before, count)) {
      const auto stacks = by_rare.find(function);
      if (stacks == by_rare.end()) continue;
      for (const std::uint32_t j : stacks->second) ++shared[j];
    }
    if (const auto stacks = by_leaf.find(in_before.function[index_of(frames.data[0])]); stacks != by_leaf.end()) {
      for (const std::uint32_t j : stacks->second) shared[j] += 2;
    }
    std::vector<std::pair<int, std::uint32_t>> candidates;
    for (const auto& [j, common] : shared) {
      if (common >= 2) candidates.emplace_back(-common, j);
    }
    std::sort(candidates.begin(), candidates.end());
    if (candidates.size() > kMostCandidates) candidates.resize(kMostCandidates);
    for (const auto& [common, j] : candidates) {
      const double score = likeness(frames, in_before, after[to[j]].frames, in_after);
      if (score >= kPossible) scored.push_back({score, i, j});
    }
  }
  std::sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.before != b.before ? a.before < b.before : a.after < b.after;
  });
  FuzzyPairs pairs;
  std::vector<std::uint8_t> used_before(from.size(), 0), used_after(to.size(), 0);
  for (const Scored& one : scored) {
    if (used_before[one.before] != 0 || used_after[one.after] != 0) continue;
    used_before[one.before] = used_after[one.after] = 1;
    if (one.score >= kSame) {
      pairs.same.emplace_back(from[one.before], to[one.after]);
    } else {
      ++pairs.possible;
    }
  }
  return pairs;
}

}  // namespace snapdiff::diff
