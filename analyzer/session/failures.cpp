#include "analyzer/session/failures.hpp"

#include <utility>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/device_peak.hpp"

namespace snapdiff::session {

namespace {

/// The last failed allocation of a trace.
using FailureAt = std::pair<cuda::TraceRef, OutOfMemory>;

Result<std::vector<FailureAt>> failures_in(const Snapshot& snapshot) {
  std::vector<FailureAt> out;
  if (snapshot.allocator == nullptr) return out;
  for (const DeviceTrace& trace : snapshot.allocator->traces) {
    const cuda::TraceRef ref{trace.device, trace.host};
    Result<std::optional<OutOfMemory>> failure = cuda::out_of_memory(snapshot, ref);
    if (!failure) return std::move(failure).error();
    if (*failure) out.emplace_back(ref, **std::move(failure));
  }
  return out;
}

}  // namespace

Result<std::vector<TracedFailure>> failures_of(const LoadedSnapshot& loaded, const DiffOptions& options) {
  std::vector<TracedFailure> found;
  const Snapshot& snapshot = *loaded.ref.snapshot;
  if (loaded.failure != nullptr) {
    Result<TopReport> live = diff::top(loaded.ref, options);
    if (!live) return std::move(live).error();
    found.push_back({*loaded.failure, *std::move(live)});
    return found;
  }
  const Result<std::vector<FailureAt>> failures = failures_in(snapshot);
  if (!failures) return failures.error();
  for (const auto& [ref, failure] : *failures) {
    Result<Snapshot> before = cuda::snapshot_at(snapshot, ref, failure.event);
    if (!before) return std::move(before).error();
    SnapshotRef moment = loaded.ref;
    moment.snapshot = std::make_shared<const Snapshot>(*std::move(before));
    Result<TopReport> live = diff::top(moment, options);
    if (!live) return std::move(live).error();
    found.push_back({failure, *std::move(live)});
  }
  return found;
}

Result<std::shared_ptr<const OutOfMemory>> last_failure(const Snapshot& snapshot) {
  Result<std::vector<FailureAt>> failures = failures_in(snapshot);
  if (!failures) return std::move(failures).error();
  const OutOfMemory* last = nullptr;
  for (const auto& [ref, failure] : *failures) {
    if (last == nullptr || failure.after_us > last->after_us) last = &failure;
  }
  return last == nullptr ? nullptr : std::make_shared<const OutOfMemory>(*last);
}

Result<report::AboveTop> above_top(const LoadedSnapshot& loaded, const DiffOptions& options, report::Form form) {
  report::AboveTop above;
  above.failure = loaded.failure;
  const Snapshot& snapshot = *loaded.ref.snapshot;
  if (snapshot.allocator == nullptr || form == report::Form::csv) return above;
  const bool is_read = form == report::Form::text || form == report::Form::markdown;
  if (above.failure == nullptr && is_read) {
    Result<std::shared_ptr<const OutOfMemory>> failure = last_failure(snapshot);
    if (!failure) return std::move(failure).error();
    above.failure = *std::move(failure);
  }
  Result<std::shared_ptr<const PeakStory>> peak = device_peak(loaded.ref, options);
  if (!peak) return std::move(peak).error();
  above.peak = *std::move(peak);
  return above;
}

}  // namespace snapdiff::session
