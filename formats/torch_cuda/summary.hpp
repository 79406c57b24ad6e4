#pragma once

#include <string_view>

#include "analyzer/base/snapshot_builder.hpp"
#include "snapdiff/allocator_state.hpp"

namespace snapdiff::formats::torch_cuda {

struct SeenKeys;

/// Rows, counters, facts and notes of a snapshot, from the segments and blocks.
/// Throws Failure: limit, when a sum does not fit in 64 bits.
void summarize(const AllocatorState& state, const SeenKeys& seen, std::string_view detail, SnapshotBuilder& builder);

/// "A" to "G", for people; recognised by the keys that were there.
std::string_view layout_letter(const SeenKeys& seen);

}  // namespace snapdiff::formats::torch_cuda
