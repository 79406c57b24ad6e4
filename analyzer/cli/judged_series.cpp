#include "analyzer/cli/judged_series.hpp"

#include <utility>

#include "analyzer/diff/diff.hpp"
#include "analyzer/story/story.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::cli {

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
  return out;
}

Result<GrowthReport> compare_pair(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options) {
  Result<GrowthReport> report = diff::diff(baseline, current, options);
  if (report) story::tell(*report);
  return report;
}

}  // namespace snapdiff::cli
