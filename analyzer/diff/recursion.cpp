#include "analyzer/diff/recursion.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace snapdiff::diff {
namespace {

/// In functions: a visitor that goes through accept() has two.
constexpr std::size_t kLongestCycle = 4;

}  // namespace

bool may_recurse(std::span<const FrameId> frames) {
  for (std::size_t cycle = 1; cycle <= kLongestCycle && cycle < frames.size(); ++cycle) {
    const FrameId* const later = frames.data() + cycle;
    std::uint32_t equal = 0;  // counted to the end: several at once are compared in one instruction
    for (std::size_t i = 0; i < frames.size() - cycle; ++i) equal |= later[i] == frames[i] ? 1U : 0U;
    if (equal != 0) return true;
  }
  return false;
}

void fold_recursion(std::span<const FrameId> frames, std::vector<FrameId>& out) {
  out.clear();
  for (const FrameId frame : frames) {
    out.push_back(frame);
    for (std::size_t cycle = 1; cycle <= std::min(kLongestCycle, out.size() / 2); ++cycle) {
      const auto again = out.end() - static_cast<std::ptrdiff_t>(cycle);
      if (!std::equal(again, out.end(), again - static_cast<std::ptrdiff_t>(cycle))) continue;
      out.erase(again, out.end());
      break;
    }
  }
}

}  // namespace snapdiff::diff
