#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analyzer/diff/rebuild/positions.hpp"

namespace snapdiff::diff::rebuild {

using Pair = std::function<void(std::uint32_t before, std::uint32_t after)>;

/// Says which positions of one function are the same, by what they call, in order of their lines. `stays`: how much
/// an equal line speaks for itself. Where two answers are as good, `pair` is called for both, so that they are one
/// class: coarse, and not wrong. `in_before`, `in_after`: sorted by line.
void align(const Positions& before, const std::vector<std::uint32_t>& in_before, const Positions& after,
           const std::vector<std::uint32_t>& in_after, double stays, const Pair& pair);

}  // namespace snapdiff::diff::rebuild
