#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/diff/comparison.hpp"
#include "analyzer/diff/frame_keys.hpp"

namespace snapdiff::diff {

struct SuspectList {
  std::vector<Suspect> suspects;
  std::string common_path;
};

/// Growth of one row of stacks, for find_suspects().
struct StackGrowth {
  std::uint32_t unit;  ///< whose frames stand for the row
  std::uint32_t row;   ///< what Suspect::rows calls it
  std::int64_t growth;
  std::int64_t objects;
  double variance;
};

/// algorithms.md section 6 on the tree of callers, by function, recursion folded, weighted by the
/// stacks that grow. When more was freed than grew, the largest freed path comes first.
/// `rows`: those whose growth is not 0, in any order (that of the units is quickest). `grew` and `shrank`: of the
/// report, the wholes of the shares. `blurred`: sampling errors are known, and what is below two of them is no suspect.
SuspectList find_suspects(const Comparison& comparison, std::span<const StackGrowth> rows, std::int64_t grew,
                          std::int64_t shrank, bool blurred);

}  // namespace snapdiff::diff
