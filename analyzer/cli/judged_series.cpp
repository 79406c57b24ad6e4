#include "analyzer/cli/judged_series.hpp"

#include <utility>

#include "analyzer/diff/diff.hpp"
#include "analyzer/objects/objects.hpp"
#include "analyzer/postmortem/postmortem.hpp"
#include "analyzer/story/story.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::cli {

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

Result<JudgedSeries> judge_series(std::span<const SnapshotRef> snapshots, const DiffOptions& options,
                                  std::optional<std::int64_t> limit, std::optional<double> floor) {
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
  Result<GrowthReport> report = diff::diff(baseline, current, options);
  if (!report) return report;
  story::tell(*report);
  const SnapshotRef pair[] = {baseline, current};
  if (Status told = postmortem::tell_iterations(pair, options, *report); !told) return std::move(told).error();
  tell_objects(*report);
  return report;
}

}  // namespace snapdiff::cli
