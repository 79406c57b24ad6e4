#pragma once

#include "analyzer/diff/comparison.hpp"
#include "analyzer/diff/rebuild/build_pair.hpp"
#include "analyzer/diff/rebuild/row_union.hpp"

namespace snapdiff::diff::rebuild {

/// Merges what runs through two lines of one function that changed places, where only rows of one side alone say so:
/// several that each hold what a row of the other side alone holds, and differ from it in these two lines and in frames
/// that a jump or an inlined callee leaves out. Of the sides `s` and `s` + 1.
void merge_crossed(const Comparison& c, std::size_t s, BuildPair& pair, RowUnion& rows);

}  // namespace snapdiff::diff::rebuild
