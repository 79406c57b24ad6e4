#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "snapdiff/growth.hpp"

namespace snapdiff {

/// Own functions, root first, by key of a report.
using OwnPaths = std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>;

/// The own paths of stacks that lack functions which V8 inlined while the process ran: its samples name the optimised
/// function alone. "session ‹ serve" is "session ‹ visit ‹ serve" if it has frames of that in the same order, is absent
/// from the first snapshot, and if the longer one never rises after the shorter one appears. The longer
/// stack that adds fewest frames counts. Empty for other runtimes.
OwnPaths restore_inlined(const GrowthReport& report);

}  // namespace snapdiff
