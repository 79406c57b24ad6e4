#pragma once

#include <array>
#include <cstddef>

#include "analyzer/diff/rebuild/build_pair.hpp"
#include "analyzer/diff/rebuild/row_union.hpp"

namespace snapdiff::diff::rebuild {

/// Merges rows that lines or frames may have taken for each other, where the sizes and numbers of their objects say
/// that what one held is in the other now: lines that changed places, a new site in the line of an old one, a frame
/// that an optimiser leaves out. Coarse, and not wrong. Rows that differ in the same places speak for each other.
/// `sides`: of the comparison, in the order of `pair`. Without counts of objects nothing is done.
void merge_by_objects(const Comparison& c, const std::array<std::size_t, 2>& sides, BuildPair& pair, RowUnion& rows);

}  // namespace snapdiff::diff::rebuild
