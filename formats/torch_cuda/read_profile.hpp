#pragma once

#include <string_view>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::torch_cuda {

/// `{"traceEvents": [...]}`: certain where a memory event is in the head, else possible.
Match sniff_profile(std::string_view head);

/// Reads the memory events of torch.profiler's Chrome trace: a snapshot for each moment, with the counters `allocated`
/// and `reserved` of each device, as the allocators reported them last. Memory: some 40 bytes an event.
/// Source: torch.profiler's documentation (profile_memory, export_chrome_trace) and PyTorch's
/// torch/csrc/profiler/kineto_shim and torch/csrc/autograd/profiler_kineto.cpp, which write the events.
/// Errors: unsupported for a trace without such events, malformed with an offset, limit.
Status read_profile(Input& in, SnapshotSink& out);

}  // namespace snapdiff::formats::torch_cuda
