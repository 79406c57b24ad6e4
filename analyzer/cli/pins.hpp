#pragma once

#include "snapdiff/device_memory.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::cli {

/// Who pins the segments of `current`; with growth since `baseline` where that has a snapshot.
/// Errors: usage (no segments), and those of the diff.
Result<PinReport> make_pins(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options);

}  // namespace snapdiff::cli
