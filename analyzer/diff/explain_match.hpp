#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::diff {

/// One call site of two aligned stacks, as "function file:line"; "" where one side has none.
struct SitePair {
  std::string before, after;
  double weight = 0;  ///< 1: the same line of both builds. 0.5: one function, and no line contradicts. 0: a gap
};

/// A stack of the other build beside the heaviest one of a row.
struct ComparedStacks {
  std::size_t row = 0;               ///< of the report, from 0: where the other stack is
  MatchTier tier = MatchTier::none;  ///< of that row
  double score = 0;                  ///< mean of the shares of both stacks and of the shorter one that the weights are
  bool is_covered = false;           ///< 85 % of the shorter stack has a weight
  bool other_leaf = false;           ///< another function allocates: such stacks are not compared
  bool contradicts = false;          ///< objects of another size, and another number of them
  std::vector<SitePair> sites;       ///< leaf first
};

/// Why one row of a comparison has the sides that it has.
struct MatchExplanation {
  GrowthRow row;
  std::vector<std::string> stack;  ///< of the row, leaf first
  std::string_view evidence;       ///< of another build, in words; "" of one build
  std::string observed;            ///< all that speaks for one build or two, with its weight
  /// Of a row of both sides: the two stacks. Of a row of one side: those of the other side most like it, the best
  /// first.
  std::vector<ComparedStacks> pairs;
  double least_score = 0, least_margin = 0;  ///< what the best has to reach, and by how much it has to beat the second
};

/// Explains row `place` (from 0) of diff() with these arguments. Errors: those of diff(), usage (no such row; rows are
/// no stacks).
Result<MatchExplanation> explain_match(const SnapshotRef& baseline, const SnapshotRef& current,
                                       const DiffOptions& options, std::size_t place);

}  // namespace snapdiff::diff
