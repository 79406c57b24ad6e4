#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/diff/rebuild/code.hpp"

namespace snapdiff::diff::rebuild {

/// Which function of one side is which of the other.
struct FunctionMap {
  std::vector<std::uint32_t> after;   ///< per function of the baseline: its counterpart, kNone without one
  std::vector<std::uint32_t> before;  ///< the other way round

  void match(std::uint32_t a, std::uint32_t b) {
    after[a] = b;
    before[b] = a;
  }
};

/// Matches functions by names that one function of each side alone has, then by callers, callees, bytes and similarity
/// of names: mutual best with a margin, in rounds, since each match adds evidence for its neighbours. Two functions are
/// compared that have a caller, a callee, a file or a name in common, of each of these the heaviest: time grows with
/// their number.
FunctionMap map_functions(const Code& before, const Code& after);

}  // namespace snapdiff::diff::rebuild
