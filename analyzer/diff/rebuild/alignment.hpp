#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/diff/rebuild/in_common.hpp"
#include "analyzer/diff/rebuild/positions.hpp"

namespace snapdiff::diff::rebuild {

/// A position before and one after that are the same.
using AlignedPair = std::pair<std::uint32_t, std::uint32_t>;

/// By how much the lines of one function may have moved.
struct Shift {
  double stays = 1;    ///< how much an equal line speaks for itself, where `known` is false
  bool known = false;  ///< the next functions above and below moved by so many lines
  std::int32_t above = 0, below = 0;
};

/// Says which positions of one function are the same, by what they call, in order of their lines. Where two answers are
/// as good, both are added to `aligned`, so that they are one class: coarse, and not wrong. `in_before`, `in_after`:
/// sorted by line. `around`: what is compared with, for the functions of the current side; lent by the caller, as it is
/// large and of use for many functions.
void align(const Positions& before, std::span<const std::uint32_t> in_before, const Positions& after,
           std::span<const std::uint32_t> in_after, const Shift& shift, AroundInCommon& around,
           std::vector<AlignedPair>& aligned);

}  // namespace snapdiff::diff::rebuild
