#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analyzer/diff/build_match.hpp"

namespace snapdiff::diff::rebuild {

/// What is on one side only, of two that were joined exactly.
struct LeftOver {
  std::vector<std::uint32_t> before, after;  ///< entries
  double share_before = 0, share_after = 0;  ///< of the bytes of the side
};

/// Entries that both sides have, with objects of another mean size.
struct Resized {
  std::vector<std::uint32_t> before, after;
};

/// Whether the two sides ran different builds of one program (algorithms.md section 1): a module says so, a function
/// has none of its lines any more, only one side knows inlined frames, or much is left over on both sides whose
/// functions mostly are on both, and that code has changed (changed_code.hpp) or some names are on one side only. Never
/// where all code is known to be the same, nor between two moments of one recording. `resized` is asked only where
/// nothing else decides.
bool is_rebuilt(const Side& before, const Side& after, const BuildFacts& facts_before, const BuildFacts& facts_after,
                const UsedFrames& used_before, const UsedFrames& used_after, const LeftOver& left,
                const std::function<Resized()>& resized);

}  // namespace snapdiff::diff::rebuild
