#pragma once

#include "formats/input/format.hpp"

/// The public header of formats/torch_cuda: memory snapshots of PyTorch's caching allocator.
namespace snapdiff::formats {

/// Pickles of torch.cuda.memory._snapshot() and its kin.
extern const Format kTorchCuda;
/// HTML pages of torch/cuda/_memory_viz.py that hold such pickles.
extern const Format kTorchHtml;
/// The same dictionary as JSON.
extern const Format kTorchJson;
/// Memory timelines of torch.profiler: bytes by category over time.
extern const Format kTorchTimeline;
/// Chrome traces of torch.profiler: totals by device over time.
extern const Format kTorchProfile;

}  // namespace snapdiff::formats
