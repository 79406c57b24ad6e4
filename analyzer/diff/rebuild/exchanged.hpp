#pragma once

#include <cstddef>

#include "analyzer/diff/rebuild/build_pair.hpp"
#include "analyzer/diff/rebuild/row_union.hpp"

namespace snapdiff::diff::rebuild {

/// Merges rows that hold what another one of the same functions held before, and that one in turn what they held: lines
/// that changed places look like that, and names and lines cannot distinguish them. Coarse, and not wrong.
/// `s`: the older side of `pair`. Asks for counts of objects; without them nothing is done.
void merge_exchanged(const Comparison& c, std::size_t s, const BuildPair& pair, RowUnion& rows);

}  // namespace snapdiff::diff::rebuild
