#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analyzer/trend/resample.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::trend {
namespace {

// A collector that runs often looks like a restart each time; a process seldom restarts thrice.
constexpr std::size_t kMostRestarts = 2;

int rank(const Verdict& verdict) {
  if (verdict.word == "GROWING") return 0;
  return verdict.word == "RISING" ? 1 : 2;
}

std::vector<std::uint32_t> ranked(const std::vector<Verdict>& verdicts) {
  std::vector<std::uint32_t> order(verdicts.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  // Ties keep the order of the rows, which is total.
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Verdict& x = verdicts[a];
    const Verdict& y = verdicts[b];
    if (rank(x) != rank(y)) return rank(x) < rank(y);
    return x.p * x.rise > y.p * y.rise;
  });
  return order;
}

Verdict judge_total(const SeriesReport& series, const TimeAxis& axis) {
  std::vector<double> totals;
  for (const SeriesStep& step : series.steps) totals.push_back(static_cast<double>(step.total));
  const GrowthReport& overall = series.overall;
  const double error = overall.total_error;
  const double variance = overall.has_error && std::isfinite(error) ? error * error / 2 : 0;
  return judge(Resampler(&axis, totals.size()).at_even_times(totals), variance, 0, overall.unit);
}

Forecast forecast_of(const Verdict& whole, std::int64_t total, std::size_t count, std::int64_t limit) {
  Forecast forecast;
  const double left = static_cast<double>(limit) - static_cast<double>(total);
  if (left <= 0) {
    forecast.kind = Forecast::Kind::reached;
  } else if (count < kJudgedFrom) {
    forecast.kind = Forecast::Kind::none;
  } else if (whole.slope_low <= 0 || whole.slope <= 0) {
    forecast.kind = Forecast::Kind::never;
  } else {
    forecast = {Forecast::Kind::ahead, left / whole.slope, left / whole.slope_high, left / whole.slope_low};
  }
  return forecast;
}

}  // namespace

std::size_t judged_from(const SeriesReport& series) {
  std::size_t from = 0;
  std::size_t collapses = 0;
  std::size_t last_collapse = 0;
  for (std::size_t i = 1; i < series.steps.size(); ++i) {
    const SeriesStep& step = series.steps[i];
    if (step.restart.empty()) continue;
    if (step.other_process) {
      from = i;
      collapses = 0;
    } else {
      ++collapses;
      last_collapse = i;
    }
  }
  return collapses > 0 && collapses <= kMostRestarts ? std::max(from, last_collapse) : from;
}

Result<TrendReport> judge_since_restart(std::span<const SnapshotRef> snapshots, const DiffSeries& diff,
                                        std::optional<std::int64_t> limit, std::optional<double> floor) {
  Result<SeriesReport> series = diff(snapshots);
  if (!series) return std::move(series).error();
  const std::size_t from = judged_from(*series);
  const std::string restart = series->steps[from].restart;
  if (from > 0 && from + 1 < snapshots.size()) {
    series = diff(snapshots.subspan(from));
    if (!series) return std::move(series).error();
  }
  TrendReport report = analyse(*std::move(series), limit, floor);
  if (report.series.steps.size() < snapshots.size()) {
    report.left_out = from;
    report.restart = restart;
  }
  return report;
}

TrendReport analyse(SeriesReport series, std::optional<std::int64_t> limit, std::optional<double> floor) {
  TrendReport report;
  report.axis = time_axis(series);
  report.verdicts = judge_rows(series.overall, &report.axis, floor);
  report.order = ranked(report.verdicts);
  report.whole = judge_total(series, report.axis);
  report.limit = limit;
  if (limit) report.forecast = forecast_of(report.whole, series.steps.back().total, series.steps.size(), *limit);
  report.series = std::move(series);
  return report;
}

}  // namespace snapdiff::trend
