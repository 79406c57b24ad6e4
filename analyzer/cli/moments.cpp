#include <algorithm>
#include <memory>
#include <utility>

#include "analyzer/cli/load.hpp"
#include "analyzer/cuda/cuda.hpp"

/// The part of load.hpp that is about the traces of CUDA snapshots.
namespace snapdiff::cli {

Result<std::vector<LoadedSnapshot>> moments_of(const Snapshot& snapshot, const std::string& path,
                                               const std::string& wanted) {
  cuda::TraceRef trace = *cuda::busiest_trace(snapshot);
  std::string point = wanted;
  const std::size_t colon = point.find(':');
  if (colon != std::string::npos && colon > 0 && colon < 6 && point.find_first_not_of("0123456789") == colon) {
    trace.device = static_cast<std::uint32_t>(std::stoul(point.substr(0, colon)));
    point.erase(0, colon + 1);
  }
  if (point == "last") point = "end";
  if (point == "first") point = "0";  // before the first event
  const Result<std::vector<std::uint64_t>> moments = cuda::points(snapshot, trace, point);
  if (!moments) return moments.error();
  std::vector<LoadedSnapshot> found;
  for (const std::uint64_t events : *moments) {
    Result<Snapshot> live = cuda::snapshot_at(snapshot, trace, events);
    if (!live) return std::move(live).error();
    // Another moment of the same bytes is another snapshot for the store.
    live->facts.position = static_cast<std::uint32_t>(std::min<std::uint64_t>(events, 0xfffffffeU) + 1);
    LoadedSnapshot item;
    item.ref.ref = path + "@" + (moments->size() == 1 ? wanted : std::to_string(events));
    item.ref.snapshot = std::make_shared<const Snapshot>(*std::move(live));
    if (point == "oom") {
      Result<std::optional<OutOfMemory>> failure = cuda::out_of_memory(snapshot, trace);
      if (!failure) return std::move(failure).error();
      if (*failure) item.failure = std::make_shared<const OutOfMemory>(**std::move(failure));
    }
    found.push_back(std::move(item));
  }
  return found;
}

}  // namespace snapdiff::cli
