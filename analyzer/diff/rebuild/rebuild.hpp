#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/diff/build_match.hpp"
#include "analyzer/diff/comparison.hpp"

namespace snapdiff::diff::rebuild {

class BuildPair;

/// Matches what the builds of one program left apart: release N against release N + 1.
class Rebuilds {
 public:
  Rebuilds();
  ~Rebuilds();

  /// Looks at each two consecutive sides for another build; call after equal stacks were joined. True: some sides
  /// hold frames that look the same and are not; their identities were changed, and the stacks have to be joined again.
  /// `facts`, `used`: per side.
  bool find(Comparison& comparison, std::span<const BuildFacts> facts, std::span<const UsedFrames> used);

  /// Joins units that are in one of two consecutive sides only. Fills row_of_unit, coarse_tier, possible_pairs
  /// and renamed of the comparison.
  void match(Comparison& comparison);

 private:
  struct Pair {
    std::array<std::size_t, 2> sides{};  ///< of the comparison, in the order of the pair
    std::unique_ptr<BuildPair> pair;     ///< null: one build
  };
  std::vector<Pair> pairs_;  ///< between each side and the next
};

}  // namespace snapdiff::diff::rebuild
