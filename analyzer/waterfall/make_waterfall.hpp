#pragma once

#include <span>

#include "snapdiff/result.hpp"
#include "snapdiff/waterfall.hpp"

namespace snapdiff::waterfall {

/// The parts of a process's resident memory, from snapshots of any formats. Of each kind of file the first and the last
/// are taken; these are the two moments. Errors: usage (no file tells a part), limit (an amount beyond 128 PiB).
Result<Waterfall> make_waterfall(std::span<const SnapshotRef> snapshots);

}  // namespace snapdiff::waterfall
