#pragma once

#include "snapdiff/device_memory.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::session {

/// The pseudo stack `[no stack recorded]` of a snapshot's rows; stack 0 where no row has it.
StackId no_stack_recorded(const Snapshot& snapshot);

/// Who pins the segments of `current`; with growth since `baseline` where that has a snapshot.
/// Errors: usage (no segments), and those of the diff.
Result<PinReport> make_pins(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options);

}  // namespace snapdiff::session
