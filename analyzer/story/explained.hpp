#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/story/growth_paths.hpp"
#include "analyzer/story/sum_judge.hpp"

namespace snapdiff::story {

/// Of the most bytes of a path: more growth makes all of it growth.
inline constexpr double kMostlyGrown = 0.2;
/// So many callers of a function do not each leak by chance.
inline constexpr std::size_t kManyCallers = 4;

/// What has to be explained: how much each path weighs when culprits are looked for.
///   weight   per path, >= 0; 0 for paths that do not belong to this group
///   verdict  per path, its own; without a word where there is no series or the path changes less than the floor
///   moved    per path: it rises by what others that end in the same function lose
struct Weights {
  std::vector<double> weight;
  double all = 0;
};
struct Explained {
  Weights growing;   ///< judged GROWING or RISING, alone or as part of a GROWING function; with too few snapshots to
                     ///< judge, and where nothing is, all that grew
  Weights levelled;  ///< the rest of what grew, where `growing` was judged
  Weights freed;     ///< what shrank
  std::vector<Verdict> verdict;
  std::vector<std::uint8_t> moved;
  bool judged = false;  ///< `growing` holds what verdicts chose
};

/// `verdicts`: of the rows of the report, or empty.
Explained explain(const GrowthPaths& paths, const SumJudge& judge, std::span<const Verdict> verdicts);

}  // namespace snapdiff::story
