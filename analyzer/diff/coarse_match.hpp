#pragma once

#include <span>

#include "analyzer/diff/build_match.hpp"
#include "analyzer/diff/comparison.hpp"

namespace snapdiff::diff {

/// Joins units that are in one of two consecutive sides only, by the tiers below the exact ones,
/// where there is evidence that the two sides ran different builds. Fills row_of_unit,
/// coarse_tier, possible_pairs and renamed of the comparison.
/// `facts`, `used`: per side, as build_facts() and used_frames() give them.
void match_coarsely(Comparison& comparison, std::span<const BuildFacts> facts,
                    std::span<const std::vector<std::uint8_t>> used);

}  // namespace snapdiff::diff
