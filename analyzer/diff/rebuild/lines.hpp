#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/diff/rebuild/positions.hpp"

namespace snapdiff::diff::rebuild {

/// Which positions of the two sides are the same: equal classes. A position without counterpart has a class of
/// its own; several of a side share one where nothing distinguishes them.
struct LineMap {
  std::vector<std::uint32_t> before, after;  ///< class per position
  std::vector<std::uint8_t> paired;          ///< per class: both sides have it
  std::vector<std::uint8_t> ambiguous;       ///< per class: a line of one side may be several of the other
};

/// Aligns the positions of each function that both sides have, `functions` of them: the alignment in order of lines
/// that says most for it by what they call, by their objects and by whether they moved. Where two answers are about as
/// good, both are taken, so that they are one class: coarse, and not wrong.
LineMap map_lines(const Positions& before, const Positions& after, std::size_t functions);

}  // namespace snapdiff::diff::rebuild
