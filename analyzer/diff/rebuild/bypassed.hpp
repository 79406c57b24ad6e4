#pragma once

#include <cstddef>

#include "analyzer/diff/rebuild/build_pair.hpp"
#include "analyzer/diff/rebuild/row_union.hpp"

namespace snapdiff::diff::rebuild {

/// Merges rows that differ in one function alone, which one of them bypasses, where the numbers of their objects say
/// that stacks of one go on in the other: its frame is missing where an optimiser made the call a jump or the callee
/// was inlined. One of two such calls in it, of which no line says which it is, looks like a change of another row.
/// Coarse, and not wrong. `s`: the older side of `pair`. Without counts of objects nothing is done.
void merge_bypassed(const Comparison& c, std::size_t s, BuildPair& pair, RowUnion& rows);

}  // namespace snapdiff::diff::rebuild
