#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/diff/rebuild/positions.hpp"

namespace snapdiff::diff::rebuild {

/// A position before and one after that are the same.
using AlignedPair = std::pair<std::uint32_t, std::uint32_t>;

/// By how much the lines of one function may have moved.
struct Shift {
  double stays = 1;    ///< how much an equal line speaks for itself, 0 to 1, where `known` is false
  bool known = false;  ///< the next functions above and below moved by so many lines
  std::int32_t above = 0, below = 0;
};

/// Adds to `aligned` which positions of one function are the same: the alignment in order of lines that says most for
/// it by what they call, by their objects and by how far they moved; then lines out of order that are alike as nothing
/// else there is. Where two answers are about as good, both are added, so that they are one class: coarse, and not
/// wrong. `in_before`, `in_after`: sorted by line.
void align_sites(const Positions& before, std::span<const std::uint32_t> in_before, const Positions& after,
                 std::span<const std::uint32_t> in_after, const Shift& shift, std::vector<AlignedPair>& aligned);

}  // namespace snapdiff::diff::rebuild
