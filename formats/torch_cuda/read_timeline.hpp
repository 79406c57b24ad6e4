#pragma once

#include <string_view>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::torch_cuda {

/// `[times, sizes]`, or a list of `[time, action, bytes, category]`: lists of numbers and nothing else.
Match sniff_timeline(std::string_view head);

/// Reads a memory timeline of torch.profiler: a snapshot for each moment, its bytes by the label "category".
/// Memory: 8 bytes a moment. Errors: malformed with an offset, limit.
Status read_timeline(Input& in, SnapshotSink& out);

}  // namespace snapdiff::formats::torch_cuda
