#pragma once

#include <vector>

#include "analyzer/diff/comparison.hpp"
#include "analyzer/diff/grouping.hpp"

namespace snapdiff::diff {

/// The stacks of rows that were matched across builds, as the baseline calls them: of each row the largest of those
/// whose functions are most like those of the stack that stands for it.
std::vector<Counterpart> counterparts_of(const Comparison& c, const Grouped& g, ComparisonView& view);

}  // namespace snapdiff::diff
