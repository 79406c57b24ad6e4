#include "analyzer/cli/series_trend.hpp"

#include <span>
#include <utility>

#include "analyzer/diff/diff.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::cli {

Result<TrendReport> trend_of(const std::vector<SnapshotRef>& refs, const DiffOptions& options,
                             std::optional<std::int64_t> limit) {
  Result<SeriesReport> series = diff::diff_series(refs, options);
  if (!series) return std::move(series).error();
  const std::size_t from = trend::judged_from(*series);
  const std::string restart = series->steps[from].restart;
  if (from > 0 && from + 1 < refs.size()) {
    series = diff::diff_series(std::span(refs).subspan(from), options);
    if (!series) return std::move(series).error();
  }
  TrendReport report = trend::analyse(*std::move(series), limit);
  if (report.series.steps.size() < refs.size()) {
    report.left_out = from;
    report.restart = restart;
  }
  return report;
}

}  // namespace snapdiff::cli
