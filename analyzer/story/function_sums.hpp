#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analyzer/story/explained.hpp"
#include "analyzer/story/growth_paths.hpp"
#include "analyzer/story/sum_judge.hpp"

namespace snapdiff::story {

/// A set of paths that may be one leak though none of them looks like one: what one function allocates, directly or
/// for certain callers, over several threads, recursion depths, call sites.
struct FunctionSum {
  std::uint32_t function = 0;        ///< that all of them run through, or end in below the same callers
  std::vector<std::uint32_t> paths;  ///< ascending
  double current = 0;                ///< bytes at the end
  std::vector<double> values;        ///< at each snapshot
  Verdict verdict;
};

/// The sums of two paths or more that are GROWING as a whole, the most specific (fewest bytes at the end) first:
/// everything through one function, and everything that ends in the same last functions. Only those that `is_wanted`
/// are judged, which takes far longer than to ask; it is asked by several threads.
std::vector<FunctionSum> growing_sums(const GrowthPaths& paths, const SumJudge& judge,
                                      const std::function<bool(const FunctionSum&)>& is_wanted);

}  // namespace snapdiff::story
