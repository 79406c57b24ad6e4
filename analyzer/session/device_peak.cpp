#include "analyzer/session/device_peak.hpp"

#include <utility>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/pins.hpp"
#include "analyzer/story/story.hpp"

namespace snapdiff::session {
namespace {

/// Where an allocation failed, what would have held less then is of use, not at the peak.
Status advise_at_failure(const Snapshot& snapshot, cuda::TraceRef trace, PeakStory& told) {
  const Result<std::optional<OutOfMemory>> failure = cuda::out_of_memory(snapshot, trace);
  if (!failure) return failure.error();
  if (!*failure) return ok();
  const Result<std::optional<MemoryPeak>> moment = cuda::memory_at_failure(snapshot, trace, **failure);
  if (!moment) return moment.error();
  if (*moment) story::advise_at_failure(told, **moment, **failure);
  return ok();
}

}  // namespace

Result<std::shared_ptr<const PeakStory>> device_peak(const SnapshotRef& ref, const DiffOptions& options) {
  const std::shared_ptr<const PeakStory> none;
  const Snapshot& snapshot = *ref.snapshot;
  if (snapshot.allocator == nullptr) return none;
  Result<std::optional<MemoryPeak>> peak = cuda::held_memory(snapshot);
  const std::optional<cuda::TraceRef> trace = cuda::busiest_trace(snapshot);
  if (!*peak && trace) peak = cuda::memory_peak(snapshot, *trace);
  if (!peak) return std::move(peak).error();
  if (!*peak || (*peak)->bytes == 0) return none;
  DiffOptions view = options;
  view.by = GroupBy::stack;
  view.metric.clear();
  const Result<TopReport> top = diff::top(ref, view);
  if (!top) return top.error();
  auto told =
      std::make_shared<PeakStory>(story::peak_story(**std::move(peak), top->view, no_stack_recorded(snapshot), ref));
  if (trace && told->facts.has_history) {
    if (Status advised = advise_at_failure(snapshot, *trace, *told); !advised) return std::move(advised).error();
  }
  return std::shared_ptr<const PeakStory>(std::move(told));
}

Result<std::optional<MemoryPeak>> device_low(const Snapshot& snapshot) {
  const std::optional<cuda::TraceRef> trace = cuda::busiest_trace(snapshot);
  if (!trace) return std::optional<MemoryPeak>();
  return cuda::memory_low(snapshot, *trace);
}

}  // namespace snapdiff::session
