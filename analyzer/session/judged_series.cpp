#include "analyzer/session/judged_series.hpp"

#include <utility>

#include "analyzer/diff/diff.hpp"
#include "analyzer/objects/retained_objects.hpp"
#include "analyzer/postmortem/make_postmortem.hpp"
#include "analyzer/session/device_peak.hpp"
#include "analyzer/session/labelled.hpp"
#include "analyzer/session/left_out.hpp"
#include "analyzer/story/make_story.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::session {

namespace {

bool has_graph(const SnapshotRef& ref) { return ref.snapshot != nullptr && ref.snapshot->graph != nullptr; }

}  // namespace

void tell_objects(GrowthReport& report) {
  const std::vector<SnapshotRef> ends = {report.baseline, report.current};
  if (!has_graph(ends[0]) || !has_graph(ends[1])) return;
  const Result<RetainedReport> retained = objects::retained(ends);
  if (!retained) return;
  const Result<PathReport> paths = objects::paths(ends, {});
  story::tell_objects(report, *retained, paths ? *paths : PathReport{});
}

Result<JudgedSeries> judge_series(std::span<const SnapshotRef> given, const DiffOptions& wanted,
                                  std::optional<std::int64_t> limit, std::optional<double> floor) {
  const Result<Labelled> view = labelled(given, wanted);
  if (!view) return view.error();
  const std::span<const SnapshotRef> snapshots = view->snapshots;
  const DiffOptions& options = view->options;
  JudgedSeries out;
  const auto diff_part = [&](std::span<const SnapshotRef> part) {
    Result<SeriesReport> series = diff::diff_series(part, options, floor);
    // The first part is all of it: its steps are kept where a restart leaves some of them out.
    if (series && out.steps.empty()) out.steps = series->steps;
    return series;
  };
  Result<TrendReport> trend = trend::judge_since_restart(snapshots, diff_part, limit, floor);
  if (!trend) return std::move(trend).error();
  out.trend = *std::move(trend);
  story::tell(out.trend);
  if (Status told =
          postmortem::tell_iterations(snapshots.subspan(out.trend.left_out), options, out.trend.series.overall);
      !told)
    return std::move(told).error();
  tell_objects(out.trend.series.overall);
  return out;
}

Result<GrowthReport> compare_pair(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options) {
  const SnapshotRef pair[] = {baseline, current};
  const Result<Labelled> view = labelled(pair, options);
  if (!view) return view.error();
  Result<GrowthReport> report = diff::diff(view->snapshots[0], view->snapshots[1], view->options);
  if (!report) return report;
  story::tell(*report);
  if (Status told = postmortem::tell_iterations(view->snapshots, view->options, *report); !told)
    return std::move(told).error();
  tell_objects(*report);
  return report;
}

namespace {

Status tell_peaks(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options,
                  GrowthReport& report) {
  const Result<std::shared_ptr<const PeakStory>> before = device_peak(baseline, options);
  if (!before) return before.error();
  const Result<std::shared_ptr<const PeakStory>> after = device_peak(current, options);
  if (!after) return after.error();
  if (*before == nullptr || *after == nullptr) return ok();
  const Result<std::optional<MemoryPeak>> low_before = device_low(*baseline.snapshot);
  if (!low_before) return low_before.error();
  const Result<std::optional<MemoryPeak>> low_after = device_low(*current.snapshot);
  if (!low_after) return low_after.error();
  if (*low_before && *low_after) story::tell_lows(report, **low_before, **low_after);
  story::tell_peaks(report, **before, **after);
  return ok();
}

}  // namespace

Result<GrowthReport> compare_two(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options) {
  Result<GrowthReport> report = compare_pair(baseline, current, options);
  if (!report) return report;
  if (Status told = tell_peaks(baseline, current, options, *report); !told) return std::move(told).error();
  return report;
}

Result<TrendReport> find_trend(const Loaded& loaded, const DiffOptions& options, const TrendRequest& wanted) {
  const std::vector<SnapshotRef> snapshots = loaded.refs();
  const std::optional<double> floor =
      wanted.floor ? std::optional(static_cast<double>(*wanted.floor)) : std::optional<double>();
  TrendReport report;
  if (!wanted.loops && !wanted.triple) {
    Result<JudgedSeries> judged = judge_series(snapshots, options, wanted.limit, floor);
    if (!judged) return std::move(judged).error();
    report = std::move(judged->trend);
  } else {
    Result<SeriesReport> series =
        diff::diff_series(snapshots, options, wanted.loops ? std::optional(0.0) : std::nullopt);
    if (!series) return std::move(series).error();
    report = trend::analyse(*std::move(series), wanted.limit);
    story::tell(report);
    Status found = wanted.loops ? trend::find_round_trips(report, *wanted.loops) : trend::find_triple(report);
    if (!found) return std::move(found).error();
  }
  add_left_out(loaded, report.series.overall.notes);
  return report;
}

Result<CounterReport> judged_counters(std::span<const SnapshotRef> snapshots) {
  Result<CounterReport> counters = diff::diff_counters(snapshots);
  if (counters) trend::judge_counters(*counters);
  return counters;
}

}  // namespace snapdiff::session
