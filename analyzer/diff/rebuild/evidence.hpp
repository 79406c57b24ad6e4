#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/diff/build_match.hpp"

namespace snapdiff::diff::rebuild {

/// What is on one side only, of two that were joined exactly.
struct LeftOver {
  std::vector<std::uint32_t> before, after;  ///< entries
  double share_before = 0, share_after = 0;  ///< of the bytes of the side
};

/// What says that a side ran another build than the one before it.
enum class Evidence : std::uint8_t { none, module, lines, names, code };
constexpr std::string_view to_text(Evidence evidence) {
  constexpr std::string_view kTexts[] = {
      "", "a module has another build id, or other code at its offsets", "a function has none of its old lines",
      "a tenth of the bytes is on one side only, and so are some names", "lines call other functions than before"};
  return kTexts[static_cast<std::size_t>(evidence)];
}

/// Whether the two sides ran different builds of one program (algorithms.md section 1): a module says so, a function
/// has none of its lines any more, or much is left over on both sides whose functions mostly are on both, and that code
/// has changed (changed_code.hpp) or some names are on one side only. Never where all code is known to be the same, nor
/// between two moments of one recording.
Evidence is_rebuilt(const Side& before, const Side& after, const BuildFacts& facts_before,
                    const BuildFacts& facts_after, const UsedFrames& used_before, const UsedFrames& used_after,
                    const LeftOver& left);

}  // namespace snapdiff::diff::rebuild
