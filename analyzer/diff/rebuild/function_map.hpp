#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/diff/rebuild/code.hpp"

namespace snapdiff::diff::rebuild {

/// Which function of one side is which of the other: by name, else by callers, callees and similarity.
struct FunctionMap {
  std::vector<std::uint32_t> after;   ///< per function of the baseline: its counterpart, kNone without one
  std::vector<std::uint32_t> before;  ///< the other way round

  void match(std::uint32_t a, std::uint32_t b) {
    after[a] = b;
    before[b] = a;
  }
};

FunctionMap map_functions(const Code& before, const Code& after);

}  // namespace snapdiff::diff::rebuild
