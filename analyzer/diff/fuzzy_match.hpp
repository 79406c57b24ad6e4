#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/diff/rebuild_evidence.hpp"
#include "analyzer/diff/side.hpp"

namespace snapdiff::diff {

/// A stack that no tier has matched.
struct Leftover {
  std::uint32_t row;
  VisibleFrames frames;
  std::int64_t value;
  Hash128 exact;  ///< of its frames; breaks ties in the same way on every machine
};

struct FuzzyPairs {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> same;  ///< indices into before and after
  std::uint64_t possible = 0;
};

/// How alike two stacks are, 0 to 1: alignment of their frames, weighted towards the allocation
/// (algorithms.md sections 1 and 5).
double likeness(const VisibleFrames& a, const FrameIdentities& in_a, const VisibleFrames& b,
                const FrameIdentities& in_b);

/// Pairs stacks that score 0.9 and more, best first, each used once. `floor`: smaller stacks are
/// left alone. Work is bounded: the heaviest kMostStacks of each side, kMostCandidates each.
FuzzyPairs match_fuzzily(std::span<const Leftover> before, const FrameIdentities& in_before,
                         std::span<const Leftover> after, const FrameIdentities& in_after, std::int64_t floor);

}  // namespace snapdiff::diff
