#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/diff/rebuild/code.hpp"
#include "analyzer/diff/rebuild/functions.hpp"

namespace snapdiff::diff::rebuild {

/// For functions that one side alone has: the function of both sides in whose place they stand, as the compiler left
/// its frame out. `return rest();` is a jump: of a function that was split, the caller of the part that was split off
/// seems to be the function's own caller.
struct StandIns {
  std::vector<std::uint32_t> before, after;  ///< per function of a side, as functions of the current side; or kNone
};

StandIns find_stand_ins(const Code& before, const Code& after, const FunctionMap& map);

}  // namespace snapdiff::diff::rebuild
