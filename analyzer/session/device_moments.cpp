#include "analyzer/session/device_moments.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/base/default_metric.hpp"
#include "analyzer/base/failure.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/document/prose.hpp"
#include "analyzer/session/facts_text.hpp"
#include "analyzer/session/judged_series.hpp"
#include "analyzer/session/pins.hpp"
#include "analyzer/story/make_story.hpp"

namespace snapdiff::session {

namespace {

/// The last failed allocation of a trace.
using FailureAt = std::pair<cuda::TraceRef, OutOfMemory>;

std::vector<FailureAt> failures_in(const Snapshot& snapshot) {
  std::vector<FailureAt> out;
  if (snapshot.allocator == nullptr) return out;
  for (const DeviceTrace& trace : snapshot.allocator->traces) {
    const cuda::TraceRef ref{trace.device, trace.host};
    std::optional<OutOfMemory> failure = value_or_throw(cuda::out_of_memory(snapshot, ref));
    if (failure) out.emplace_back(ref, *std::move(failure));
  }
  return out;
}

/// Where an allocation failed, what would have held less then is of use, not at the peak.
void advise_at_failure(const Snapshot& snapshot, cuda::TraceRef trace, PeakStory& told) {
  const std::optional<OutOfMemory> failure = value_or_throw(cuda::out_of_memory(snapshot, trace));
  if (!failure) return;
  const std::optional<MemoryPeak> moment = value_or_throw(cuda::memory_at_failure(snapshot, trace, *failure));
  if (moment) story::advise_at_failure(told, *moment, *failure);
}

/// The usual metric, and no trace that could say more.
bool holds_nothing(const Snapshot& snapshot) {
  const Column* const column = snapshot.column("inuse_space");
  return column != nullptr && total_of(*column) == 0 && !cuda::busiest_trace(snapshot);
}

/// Where to look when nothing is in use.
PeakStory story_of_nothing(const SnapshotRef& ref) {
  const Snapshot& snapshot = *ref.snapshot;
  const auto value_of = [&](std::string_view name) -> std::int64_t {
    for (const Counter& counter : snapshot.facts.counters) {
      if (counter.name == name) return counter.value;
    }
    return 0;
  };
  PeakStory out;
  out.facts.has_history = false;
  out.headline = document::prose_of("Nothing is in use at this moment");
  const Column* const all = snapshot.column("alloc_space");
  if (all != nullptr && total_of(*all) > 0) {
    out.figures = document::sized(total_of(*all)) + " was allocated and is freed again";
    out.advice.push_back(document::prose_of("--metric alloc_space shows where it was allocated"));
  } else if (snapshot.allocator != nullptr) {
    out.figures = "the process has allocated nothing on a device so far";
    out.advice.push_back(
        document::prose_of("take the snapshot in the process that uses the device, after its work began"));
  }
  if (value_of("peak") > 0) {
    document::Writer next;
    next << "snapdiff top";
    SnapshotRef peak = ref;
    peak.ref = ref.ref.substr(0, ref.ref.find('@', 1)) + "@peak";
    next.operand(peak);
    out.advice.push_back(document::prose_of(document::sized(value_of("peak")), " was in use at the peak"));
    out.next = next.take();
  }
  return out;
}

}  // namespace

Result<std::vector<TracedFailure>> failures_of(const LoadedSnapshot& loaded, const DiffOptions& options) {
  return guarded([&] {
    std::vector<TracedFailure> found;
    const Snapshot& snapshot = *loaded.ref.snapshot;
    if (loaded.failure != nullptr) {
      found.push_back({*loaded.failure, value_or_throw(diff::top(loaded.ref, options))});
      return found;
    }
    for (const auto& [ref, failure] : failures_in(snapshot)) {
      SnapshotRef moment = loaded.ref;
      moment.snapshot =
          std::make_shared<const Snapshot>(value_or_throw(cuda::snapshot_at(snapshot, ref, failure.event)));
      found.push_back({failure, value_or_throw(diff::top(moment, options))});
    }
    return found;
  });
}

Result<std::shared_ptr<const OutOfMemory>> last_failure(const Snapshot& snapshot) {
  return guarded([&]() -> std::shared_ptr<const OutOfMemory> {
    const std::vector<FailureAt> failures = failures_in(snapshot);
    const auto last = std::max_element(failures.begin(), failures.end(), [](const FailureAt& a, const FailureAt& b) {
      return a.second.after_us < b.second.after_us;
    });
    return last == failures.end() ? nullptr : std::make_shared<const OutOfMemory>(last->second);
  });
}

Result<report::AboveTop> above_top(const LoadedSnapshot& loaded, const DiffOptions& options, report::Form form) {
  return guarded([&] {
    report::AboveTop above;
    above.failure = loaded.failure;
    const Snapshot& snapshot = *loaded.ref.snapshot;
    if (form == report::Form::csv) return above;
    if (snapshot.allocator == nullptr) {
      if (snapshot.graph != nullptr || holds_nothing(snapshot))
        above.peak = value_or_throw(held_story(loaded.ref, options));
      return above;
    }
    const bool is_read = form == report::Form::text || form == report::Form::markdown;
    if (above.failure == nullptr && is_read) above.failure = value_or_throw(last_failure(snapshot));
    above.peak = value_or_throw(device_peak(loaded.ref, options));
    return above;
  });
}

Result<std::shared_ptr<const PeakStory>> device_peak(const SnapshotRef& ref, const DiffOptions& options) {
  return guarded([&]() -> std::shared_ptr<const PeakStory> {
    const Snapshot& snapshot = *ref.snapshot;
    if (snapshot.allocator == nullptr) return nullptr;
    if (holds_nothing(snapshot)) return std::make_shared<PeakStory>(story_of_nothing(ref));
    std::optional<MemoryPeak> peak = cuda::held_memory(snapshot);
    const std::optional<cuda::TraceRef> trace = cuda::busiest_trace(snapshot);
    if (!peak && trace) peak = value_or_throw(cuda::memory_peak(snapshot, *trace));
    if (!peak || peak->bytes == 0) return nullptr;
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

namespace {

/// How bytes of a metric are held, behind their amount.
std::string held_text(const std::string& metric) {
  if (metric == "inuse_space") return " in use";
  if (metric == kLostSpace) return " lost";
  if (metric == "alloc_space") return " allocated, freed or not";
  if (metric == "rss") return " resident";
  if (metric == "committed" || metric == "used") return ' ' + metric;
  return " of " + metric;
}

}  // namespace

Result<std::shared_ptr<const PeakStory>> held_story(const SnapshotRef& ref, const DiffOptions& options) {
  return guarded([&]() -> std::shared_ptr<const PeakStory> {
    if (holds_nothing(*ref.snapshot)) return std::make_shared<PeakStory>(story_of_nothing(ref));
    DiffOptions view = options;
    view.by = GroupBy::stack;
    const GrowthReport both = value_or_throw(diff::diff(ref, ref, view));
    MemoryPeak heap;
    heap.has_history = false;
    heap.bytes = both.total.current;
    heap.blocks = both.total_objects.current;
    for (const GrowthRow& row : both.rows) {
      PeakRow held;
      held.stack = both.stacks[row.key].stack;
      held.bytes = row.value.current;
      held.blocks = row.objects.current;
      heap.rows.push_back(held);
    }
    if (heap.bytes <= 0 || both.unit != "bytes") return nullptr;
    std::optional<OwnerReport> owners;
    if (ref.snapshot->graph != nullptr) owners = value_or_throw(owners_of(both, true));
    return std::make_shared<PeakStory>(story::held_story(std::move(heap), held_text(both.metric), both.view,
                                                         no_stack_recorded(*ref.snapshot), ref,
                                                         owners ? &*owners : nullptr));
  });
}

Result<std::optional<MemoryPeak>> device_low(const Snapshot& snapshot) {
  const std::optional<cuda::TraceRef> trace = cuda::busiest_trace(snapshot);
  if (!trace) return std::optional<MemoryPeak>();
  return cuda::memory_low(snapshot, *trace);
}

}  // namespace snapdiff::session
