#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/diff/rebuild/positions.hpp"

namespace snapdiff::diff::rebuild {

/// Positions of functions whose frames are missing on the other side: g calls h there on one side alone, and a caller
/// of g calls h on the other one. `return h();` as the last call of g is a jump, which leaves no frame of g, and
/// another call of g is the last one in the other build.
struct Jumps {
  std::vector<std::uint8_t> before, after;  ///< per position
};

/// Asks for what is called from where, Positions::gather(). `functions`: of the current side.
Jumps find_jumps(const Positions& before, const Positions& after, std::size_t functions);

}  // namespace snapdiff::diff::rebuild
