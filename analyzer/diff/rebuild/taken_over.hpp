#pragma once

#include <cstddef>

#include "analyzer/diff/rebuild/build_pair.hpp"
#include "analyzer/diff/rebuild/row_union.hpp"

namespace snapdiff::diff::rebuild {

/// Merges a row that holds quite other objects than before with one of the same functions that one side alone has and
/// that holds just these: a new site, a leak perhaps, is where an old one stood, which moved. Coarse, and not
/// wrong. The same of rows that nothing but an alignment joined, where rows of one side alone fit both their sides.
/// `s`: the older side of `pair`. Asks for counts of objects; without them nothing is done.
void merge_taken_over(const Comparison& c, std::size_t s, BuildPair& pair, RowUnion& rows);

}  // namespace snapdiff::diff::rebuild
