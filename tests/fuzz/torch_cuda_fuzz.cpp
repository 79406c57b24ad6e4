// Any bytes through the three importers of CUDA snapshots, and what comes out through the live set.
#include <algorithm>

#include "analyzer/cuda/cuda.hpp"
#include "formats/input/all_formats.hpp"
#include "fuzz/fuzz_format.hpp"
#include "fuzz/fuzz_targets.hpp"

using namespace snapdiff;

void snapdiff::test::fuzz_torch_cuda(const std::uint8_t* data, std::size_t size) {
  const formats::Format& importer = size > 0 && data[0] == 0x80  ? formats::kTorchCuda
                                    : size > 0 && data[0] == '<' ? formats::kTorchHtml
                                                                 : formats::kTorchJson;
  test::fuzz_format(importer, data, size);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  test::MemoryInput in(bytes);
  SnapshotList list;
  if (!importer.read(in, list)) return;
  for (const Snapshot& snapshot : list.snapshots) {
    for (const DeviceTrace& trace : snapshot.allocator->traces) {
      const cuda::TraceRef ref{trace.device, trace.host};
      const auto then = cuda::snapshot_at(snapshot, ref, trace.events.size() / 2);
      if (!then && then.error().code == ErrorCode::internal) std::abort();
      const auto found = cuda::iterations(snapshot, ref);
      if (!found) std::abort();
      const auto left = cuda::left_over(snapshot, ref, *found);
      if (!left || !std::is_sorted(found->marks.begin(), found->marks.end())) std::abort();
    }
  }
}
