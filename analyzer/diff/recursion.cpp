#include "analyzer/diff/recursion.hpp"

#include <algorithm>
#include <cstddef>

namespace snapdiff::diff {
namespace {

/// In functions: a visitor that goes through accept() has two.
constexpr std::size_t kLongestCycle = 4;

}  // namespace

bool may_recurse(std::span<const FrameId> frames) {
  for (std::size_t cycle = 1; cycle <= kLongestCycle; ++cycle) {
    for (std::size_t i = cycle; i < frames.size(); ++i) {
      if (frames[i] == frames[i - cycle]) return true;
    }
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
