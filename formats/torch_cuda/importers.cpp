#include "formats/torch_cuda/read_html.hpp"
#include "formats/torch_cuda/read_json.hpp"
#include "formats/torch_cuda/read_pickle.hpp"
#include "formats/torch_cuda/read_timeline.hpp"
#include "formats/torch_cuda/sniff.hpp"
#include "formats/torch_cuda/torch_cuda_importers.hpp"

namespace snapdiff::formats {
namespace {

constexpr std::string_view kLost =
    "compile_context, user_metadata, forward_frames and category of trace entries; fx_ keys of frames; history of "
    "blocks beyond the live allocation";

class PickleImporter final : public Importer {
 public:
  const FormatInfo& info() const override {
    static constexpr FormatInfo kInfo{"torch-cuda",
                                      "memory snapshot of PyTorch's CUDA allocator (a pickle; read, never executed)",
                                      "*.pickle, *.pkl", kLost};
    return kInfo;
  }
  Match sniff(std::string_view head) const override { return torch_cuda::sniff_pickle(head); }
  std::string refusal(std::string_view head) const override { return torch_cuda::pickle_refusal(head); }
  Status read(Input& in, SnapshotSink& out) const override {
    Result<Snapshot> snapshot = torch_cuda::read_pickle(in);
    if (!snapshot) return std::move(snapshot).error();
    return out.take(std::move(*snapshot));
  }
};

class HtmlImporter final : public Importer {
 public:
  const FormatInfo& info() const override {
    static constexpr FormatInfo kInfo{"torch-html", "memory_viz page with embedded CUDA snapshots", "*.html",
                                      "as torch-cuda"};
    return kInfo;
  }
  Match sniff(std::string_view head) const override { return torch_cuda::sniff_html(head); }
  std::string refusal(std::string_view head) const override { return torch_cuda::html_refusal(head); }
  Status read(Input& in, SnapshotSink& out) const override { return torch_cuda::read_html(in, out); }
};

class JsonImporter final : public Importer {
 public:
  const FormatInfo& info() const override {
    static constexpr FormatInfo kInfo{"torch-json", "the dictionary of a CUDA snapshot as JSON", "*.json",
                                      "as torch-cuda"};
    return kInfo;
  }
  Match sniff(std::string_view head) const override { return torch_cuda::sniff_json(head); }
  Status read(Input& in, SnapshotSink& out) const override {
    Result<Snapshot> snapshot = torch_cuda::read_json(in);
    if (!snapshot) return std::move(snapshot).error();
    return out.take(std::move(*snapshot));
  }
};

class TimelineImporter final : public Importer {
 public:
  const FormatInfo& info() const override {
    static constexpr FormatInfo kInfo{"torch-timeline", "memory timeline of torch.profiler: bytes by category",
                                      "*.json, *.raw.json.gz", "single tensors and versions of raw timelines"};
    return kInfo;
  }
  Match sniff(std::string_view head) const override { return torch_cuda::sniff_timeline(head); }
  Status read(Input& in, SnapshotSink& out) const override { return torch_cuda::read_timeline(in, out); }
};

}  // namespace

std::unique_ptr<Importer> make_torch_cuda_importer() { return std::make_unique<PickleImporter>(); }
std::unique_ptr<Importer> make_torch_cuda_html_importer() { return std::make_unique<HtmlImporter>(); }
std::unique_ptr<Importer> make_torch_cuda_json_importer() { return std::make_unique<JsonImporter>(); }

std::unique_ptr<Importer> make_torch_timeline_importer() { return std::make_unique<TimelineImporter>(); }

}  // namespace snapdiff::formats
