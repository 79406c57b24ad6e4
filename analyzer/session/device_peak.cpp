#include "analyzer/session/device_peak.hpp"

#include <utility>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/pins.hpp"
#include "analyzer/story/make_story.hpp"
#include "snapdiff/failure.hpp"

namespace snapdiff::session {
namespace {

/// Where an allocation failed, what would have held less then is of use, not at the peak.
void advise_at_failure(const Snapshot& snapshot, cuda::TraceRef trace, PeakStory& told) {
  const std::optional<OutOfMemory> failure = value_or_throw(cuda::out_of_memory(snapshot, trace));
  if (!failure) return;
  const std::optional<MemoryPeak> moment = value_or_throw(cuda::memory_at_failure(snapshot, trace, *failure));
  if (moment) story::advise_at_failure(told, *moment, *failure);
}

}  // namespace

Result<std::shared_ptr<const PeakStory>> device_peak(const SnapshotRef& ref, const DiffOptions& options) {
  return guarded([&]() -> std::shared_ptr<const PeakStory> {
    const std::shared_ptr<const PeakStory> none;
    const Snapshot& snapshot = *ref.snapshot;
    if (snapshot.allocator == nullptr) return none;
    std::optional<MemoryPeak> peak = cuda::held_memory(snapshot);
    const std::optional<cuda::TraceRef> trace = cuda::busiest_trace(snapshot);
    if (!peak && trace) peak = value_or_throw(cuda::memory_peak(snapshot, *trace));
    if (!peak || peak->bytes == 0) return none;
    DiffOptions view = options;
    view.by = GroupBy::stack;
    view.metric.clear();
    const TopReport top = value_or_throw(diff::top(ref, view));
    auto told =
        std::make_shared<PeakStory>(story::peak_story(*std::move(peak), top.view, no_stack_recorded(snapshot), ref));
    if (trace && told->facts.has_history) advise_at_failure(snapshot, *trace, *told);
    return told;
  });
}

Result<std::optional<MemoryPeak>> device_low(const Snapshot& snapshot) {
  const std::optional<cuda::TraceRef> trace = cuda::busiest_trace(snapshot);
  if (!trace) return std::optional<MemoryPeak>();
  return cuda::memory_low(snapshot, *trace);
}

}  // namespace snapdiff::session
