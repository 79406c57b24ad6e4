#include "analyzer/session/judged_series.hpp"

#include <unordered_map>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/frame_kind.hpp"
#include "analyzer/base/object_graph.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/objects/retained_objects.hpp"
#include "analyzer/postmortem/make_postmortem.hpp"
#include "analyzer/session/device_moments.hpp"
#include "analyzer/session/labelled.hpp"
#include "analyzer/session/left_out.hpp"
#include "analyzer/story/make_story.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::session {

namespace {

bool has_graph(const SnapshotRef& ref) { return ref.snapshot != nullptr && ref.snapshot->graph != nullptr; }

}  // namespace

void tell_objects(GrowthReport& report, const TimeAxis* axis) {
  if (!has_graph(report.baseline) || !has_graph(report.current)) return;
  const Result<OwnerReport> owners = owners_of(report);
  if (owners) story::tell_objects(report, *owners, axis);
}

Result<OwnerReport> owners_of(const GrowthReport& report, bool alone) {
  const auto has_sizes = [](const SnapshotRef& ref) { return !ref.snapshot->graph->self_bytes.empty(); };
  if (!has_graph(report.baseline) || !has_graph(report.current)) return OwnerReport{};
  if (!has_sizes(report.baseline) || !has_sizes(report.current)) return OwnerReport{};
  // The rows know which types are library code; rows of arrays and classes are called without their kind.
  const GrowthReport& types = report.by_stack != nullptr ? *report.by_stack : report;
  std::unordered_map<std::string, bool> library;
  std::vector<FrameView> frames;
  bool by_stack = false;  // recordings of old objects: where they were allocated says nothing of who holds them
  for (const GrowthRow& row : types.rows) {
    types.frames(row, frames);
    by_stack = by_stack || frames.size() > 1;
    if (frames.size() == 1) library.try_emplace(std::string(frames.front().function), frames.front().library);
  }
  const auto is_library = [&](std::string_view type) {
    auto found = library.find(std::string(type));
    if (found == library.end() && type.ends_with(')'))
      found = library.find(std::string(type.substr(0, type.rfind(" ("))));
    if (found != library.end()) return found->second;
    return by_stack && (frame_kind(type, {}) > FrameKind::start || is_runtime_type(type));
  };
  return objects::owners(alone ? SnapshotRef{} : report.baseline, report.current, is_library);
}

Result<OwnerReport> owners_between(const SnapshotRef& baseline, const SnapshotRef& current) {
  DiffOptions view;
  view.metric.clear();
  const Result<GrowthReport> types = diff::diff(baseline.snapshot == nullptr ? current : baseline, current, view);
  if (!types) return types.error();
  return owners_of(*types, baseline.snapshot == nullptr);
}

void tell_reserved(GrowthReport& report) {
  if (report.baseline.snapshot == nullptr || report.current.snapshot == nullptr) return;
  const std::optional<ReservedBytes> before = cuda::reserved_bytes(*report.baseline.snapshot);
  const std::optional<ReservedBytes> after = cuda::reserved_bytes(*report.current.snapshot);
  if (before && after) story::tell_reserved(report, *before, *after);
}

Result<TrendReport> judge_series(std::span<const SnapshotRef> given, const DiffOptions& wanted,
                                 std::optional<std::int64_t> limit, std::optional<double> floor,
                                 trend::Emptied emptied) {
  return guarded([&]() -> TrendReport {
    const Labelled view = value_or_throw(labelled(given, wanted));
    TrendReport out = value_or_throw(postmortem::judge_series(view.snapshots, view.options, limit, floor, emptied));
    tell_objects(out.series.overall, &out.axis);
    tell_reserved(out.series.overall);
    return out;
  });
}

Result<GrowthReport> compare_pair(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options) {
  return guarded([&]() -> GrowthReport {
    const SnapshotRef pair[] = {baseline, current};
    const Labelled view = value_or_throw(labelled(pair, options));
    GrowthReport report = value_or_throw(postmortem::compare_pair(view.snapshots[0], view.snapshots[1], view.options));
    tell_objects(report);
    tell_reserved(report);
    return report;
  });
}

namespace {

void tell_peaks(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options,
                GrowthReport& report) {
  const std::shared_ptr<const PeakStory> before = value_or_throw(device_peak(baseline, options));
  const std::shared_ptr<const PeakStory> after = value_or_throw(device_peak(current, options));
  if (before == nullptr || after == nullptr) return;
  const std::optional<MemoryPeak> low_before = value_or_throw(device_low(*baseline.snapshot));
  const std::optional<MemoryPeak> low_after = value_or_throw(device_low(*current.snapshot));
  if (low_before && low_after) story::tell_lows(report, *low_before, *low_after);
  story::tell_peaks(report, *before, *after);
}

}  // namespace

Result<GrowthReport> compare_two(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options) {
  return guarded([&]() -> GrowthReport {
    GrowthReport report = value_or_throw(compare_pair(baseline, current, options));
    tell_peaks(baseline, current, options, report);
    return report;
  });
}

Result<TrendReport> find_trend(const Loaded& loaded, const DiffOptions& options, const TrendRequest& wanted) {
  return guarded([&]() -> TrendReport {
    const std::vector<SnapshotRef> snapshots = loaded.refs();
    const std::optional<double> floor =
        wanted.floor ? std::optional(static_cast<double>(*wanted.floor)) : std::optional<double>();
    TrendReport report;
    if (!wanted.loops && !wanted.triple) {
      report = value_or_throw(judge_series(snapshots, options, wanted.limit, floor));
    } else {
      SeriesReport series =
          value_or_throw(diff::diff_series(snapshots, options, wanted.loops ? std::optional(0.0) : std::nullopt));
      report = trend::analyse(std::move(series), wanted.limit);
      story::tell(report);
      value_or_throw(wanted.loops ? trend::find_round_trips(report, *wanted.loops) : trend::find_triple(report));
    }
    add_left_out(loaded, report.series.overall.notes);
    return report;
  });
}

Result<CounterReport> judged_counters(std::span<const SnapshotRef> snapshots, std::optional<std::int64_t> limit) {
  Result<CounterReport> counters = diff::diff_counters(snapshots);
  if (counters) trend::judge_counters(*counters, limit);
  return counters;
}

Result<RetainedReport> retained_with_owners(const std::vector<SnapshotRef>& refs) {
  Result<RetainedReport> report = objects::retained(refs);
  if (!report) return report;
  Result<OwnerReport> owners = owners_between(refs.size() > 1 ? refs.front() : SnapshotRef{}, refs.back());
  if (!owners) return std::move(owners).error();
  report->owners = std::move(owners->owners);
  return report;
}

}  // namespace snapdiff::session
