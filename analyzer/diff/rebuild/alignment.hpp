#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analyzer/diff/rebuild/in_common.hpp"
#include "analyzer/diff/rebuild/positions.hpp"

namespace snapdiff::diff::rebuild {

using Pair = std::function<void(std::uint32_t before, std::uint32_t after)>;

/// By how much the lines of one function may have moved.
struct Shift {
  double stays = 1;    ///< how much an equal line speaks for itself, where `known` is false
  bool known = false;  ///< the next functions above and below moved by so many lines
  std::int32_t above = 0, below = 0;
};

/// Says which positions of one function are the same, by what they call, in order of their lines. Where two answers are
/// as good, `pair` is called for both, so that they are one class: coarse, and not wrong. `in_before`, `in_after`:
/// sorted by line. `around`: what is compared with, for the functions of the current side; lent by the caller, as it is
/// large and of use for many functions.
void align(const Positions& before, const std::vector<std::uint32_t>& in_before, const Positions& after,
           const std::vector<std::uint32_t>& in_after, const Shift& shift, AroundInCommon& around, const Pair& pair);

}  // namespace snapdiff::diff::rebuild
