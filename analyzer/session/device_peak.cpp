#include "analyzer/session/device_peak.hpp"

#include <utility>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/pins.hpp"
#include "analyzer/story/make_story.hpp"

namespace snapdiff::session {

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
  return std::make_shared<const PeakStory>(
      story::peak_story(**std::move(peak), top->view, no_stack_recorded(snapshot), ref));
}

Result<std::optional<MemoryPeak>> device_low(const Snapshot& snapshot) {
  const std::optional<cuda::TraceRef> trace = cuda::busiest_trace(snapshot);
  if (!trace) return std::optional<MemoryPeak>();
  return cuda::memory_low(snapshot, *trace);
}

}  // namespace snapdiff::session
