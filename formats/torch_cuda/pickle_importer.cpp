#include "analyzer/base/contains.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/pickle/machine.hpp"
#include "formats/torch_cuda/read_pickle.hpp"
#include "formats/torch_cuda/records.hpp"

namespace snapdiff::formats::torch_cuda {

Result<Snapshot> read_pickle(Input& in, PickleStatistics* statistics) {
  pickle::Pools pools;
  Records records(pools);
  pickle::Machine<Records> machine(in, pools, records);
  return run_reader([&] {
    machine.run();
    if (const std::uint64_t other = machine.drain(); other != 0)
      records.builder().notes().add(Severity::warning, "bytes after the end of the pickle, ignored", machine.offset(),
                                    other);
    if (statistics != nullptr) *statistics = {machine.memo().size(), machine.memo().memory_bytes()};
    return records.finish("pickle protocol " + std::to_string(machine.protocol()));
  });
}

}  // namespace snapdiff::formats::torch_cuda

namespace snapdiff::formats {
namespace {

constexpr std::string_view kLost =
    "compile_context, user_metadata, forward_frames and category of trace entries; fx_ keys of frames; history of "
    "blocks beyond the live allocation";

bool is_pickle(std::string_view head) { return head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5; }

Match sniff_pickle(std::string_view head) {
  // Dumps of tracemalloc name files, whatever those are called.
  if (!is_pickle(head) || contains(head.substr(0, 64), "tracemalloc")) return Match::no;
  // A key that is alone at the root, or the first segment of a bare list.
  for (const std::string_view key : {"segments", "device_traces", "total_size", "segment_type", "external_annotations",
                                     "allocator_settings", "host_segments"}) {
    if (contains(head, key)) return Match::certain;
  }
  const bool empty_list = head.size() < 16 && head.find(']') != std::string_view::npos;
  return empty_list ? Match::possible : Match::no;
}

std::string pickle_refusal(std::string_view head) {
  if (is_pickle(head)) {
    if (contains(head, "torch") && (contains(head, "_rebuild") || contains(head, "OrderedDict")))
      return "not a memory snapshot: this is a pickle of tensors (a torch.save checkpoint), expected the dict of "
             "torch.cuda.memory._snapshot()";
    return "not a memory snapshot: this is a Python pickle without segments or device_traces among its first keys; "
           "--format torch-cuda reads it all the same";
  }
  if (head.substr(0, 4) == "PK\x03\x04" && (contains(head, "/data.pkl") || contains(head, "archive/")))
    return "not a memory snapshot: this is a zip archive of torch.save (a checkpoint), expected the pickle of "
           "torch.cuda.memory._dump_snapshot()";
  return {};
}

}  // namespace

constexpr Format kTorchCuda{
    .info = {"torch-cuda", "memory snapshot of PyTorch's CUDA allocator (a pickle; read, never executed)",
             "*.pickle, *.pkl", kLost},
    .sniff = sniff_pickle,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { give(out, torch_cuda::read_pickle(in)); },
    .refusal = pickle_refusal};

}  // namespace snapdiff::formats
