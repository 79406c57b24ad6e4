#include "formats/torch_cuda/read_html.hpp"
#include "formats/torch_cuda/read_json.hpp"
#include "formats/torch_cuda/read_pickle.hpp"
#include "formats/torch_cuda/read_profile.hpp"
#include "formats/torch_cuda/read_timeline.hpp"
#include "formats/torch_cuda/sniff.hpp"
#include "formats/torch_cuda/torch_cuda_importers.hpp"

namespace snapdiff::formats {
namespace {

constexpr std::string_view kLost =
    "compile_context, user_metadata, forward_frames and category of trace entries; fx_ keys of frames; history of "
    "blocks beyond the live allocation";

}  // namespace

constexpr Format kTorchCuda{
    .info = {"torch-cuda", "memory snapshot of PyTorch's CUDA allocator (a pickle; read, never executed)",
             "*.pickle, *.pkl", kLost},
    .sniff = torch_cuda::sniff_pickle,
    .decode = [](Input& in, SnapshotSink& out,
                 const ReadRequest&) { value_or_throw(out.take(value_or_throw(torch_cuda::read_pickle(in)))); },
    .refusal = torch_cuda::pickle_refusal};

constexpr Format kTorchHtml{
    .info = {"torch-html", "memory_viz page with embedded CUDA snapshots", "*.html", "as torch-cuda"},
    .sniff = torch_cuda::sniff_html,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { value_or_throw(torch_cuda::read_html(in, out)); },
    .refusal = torch_cuda::html_refusal};

constexpr Format kTorchJson{
    .info = {"torch-json", "the dictionary of a CUDA snapshot as JSON", "*.json", "as torch-cuda"},
    .sniff = torch_cuda::sniff_json,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) {
      value_or_throw(out.take(value_or_throw(torch_cuda::read_json(in))));
    }};

constexpr Format kTorchTimeline{.info = {"torch-timeline", "memory timeline of torch.profiler: bytes by category",
                                         "*.json, *.raw.json.gz", "single tensors and versions of raw timelines"},
                                .sniff = torch_cuda::sniff_timeline,
                                .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) {
                                  value_or_throw(torch_cuda::read_timeline(in, out));
                                }};

constexpr Format kTorchProfile{
    .info = {"torch-profile", "Chrome trace of torch.profiler with memory events: totals by device",
             "*.json, *.json.gz", "all other events; addresses and sizes of single tensors"},
    .sniff = torch_cuda::sniff_profile,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) {
      value_or_throw(torch_cuda::read_profile(in, out));
    }};

}  // namespace snapdiff::formats
