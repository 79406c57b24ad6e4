#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/diff/rebuild/code.hpp"

namespace snapdiff::diff::rebuild {

/// Which function of one side is which of the other.
struct FunctionMap {
  std::vector<std::uint32_t> after;   ///< per function of the baseline: its counterpart, kNone without one
  std::vector<std::uint32_t> before;  ///< the other way round
  std::vector<std::uint32_t> itself;  ///< per function of the current side: its number, kNone without a counterpart
  /// Per side and function that this side alone has: the function of the current side in whose place it stands, as the
  /// compiler left its frame out; or kNone. `return rest();` is a jump: of a function that was split, the caller of the
  /// part that was split off seems to be the function's own caller.
  std::array<std::vector<std::uint32_t>, 2> stands_in;

  void match(std::uint32_t a, std::uint32_t b) {
    after[a] = b;
    before[b] = a;
    itself[b] = b;
  }
};

/// Matches functions by names that one function of each side alone has, then by callers, callees, bytes and similarity
/// of names: mutual best with a margin, in rounds, since each match adds evidence for its neighbours. Two functions are
/// compared that have a caller, a callee, a file or a name in common, of each of these the heaviest: time grows with
/// their number.
FunctionMap map_functions(const Code& before, const Code& after);

/// Fills stands_in.
void find_stand_ins(const Code& before, const Code& after, FunctionMap& map);

}  // namespace snapdiff::diff::rebuild
