#pragma once

#include <memory>

#include "snapdiff/importer.hpp"

/// The door of formats/torch_cuda: memory snapshots of PyTorch's caching allocator.
namespace snapdiff::formats {

/// Pickles of torch.cuda.memory._snapshot() and its kin.
std::unique_ptr<Importer> make_torch_cuda_importer();
/// HTML pages of torch/cuda/_memory_viz.py that hold such pickles.
std::unique_ptr<Importer> make_torch_cuda_html_importer();
/// The same dictionary as JSON.
std::unique_ptr<Importer> make_torch_cuda_json_importer();
/// Memory timelines of torch.profiler: bytes by category over time.
std::unique_ptr<Importer> make_torch_timeline_importer();

}  // namespace snapdiff::formats
