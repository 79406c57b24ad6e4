#include "analyzer/session/failures.hpp"

#include <utility>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/device_peak.hpp"

namespace snapdiff::session {

Result<std::vector<TracedFailure>> failures_of(const LoadedSnapshot& loaded, const DiffOptions& options) {
  std::vector<TracedFailure> found;
  const Snapshot& snapshot = *loaded.ref.snapshot;
  if (loaded.failure != nullptr) {
    Result<TopReport> live = diff::top(loaded.ref, options);
    if (!live) return std::move(live).error();
    found.push_back({*loaded.failure, *std::move(live)});
    return found;
  }
  if (snapshot.allocator == nullptr) return found;
  for (const DeviceTrace& trace : snapshot.allocator->traces) {
    const cuda::TraceRef ref{trace.device, trace.host};
    Result<std::optional<OutOfMemory>> failure = cuda::out_of_memory(snapshot, ref);
    if (!failure) return std::move(failure).error();
    if (!*failure) continue;
    Result<Snapshot> before = cuda::snapshot_at(snapshot, ref, (*failure)->event);
    if (!before) return std::move(before).error();
    SnapshotRef moment = loaded.ref;
    moment.snapshot = std::make_shared<const Snapshot>(*std::move(before));
    Result<TopReport> live = diff::top(moment, options);
    if (!live) return std::move(live).error();
    found.push_back({**std::move(failure), *std::move(live)});
  }
  return found;
}

namespace {

Result<std::shared_ptr<const OutOfMemory>> last_failure(const Snapshot& snapshot) {
  std::shared_ptr<const OutOfMemory> last;
  for (const DeviceTrace& trace : snapshot.allocator->traces) {
    Result<std::optional<OutOfMemory>> failure = cuda::out_of_memory(snapshot, {trace.device, trace.host});
    if (!failure) return std::move(failure).error();
    if (*failure && (last == nullptr || (*failure)->after_us > last->after_us))
      last = std::make_shared<const OutOfMemory>(**std::move(failure));
  }
  return last;
}

}  // namespace

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
