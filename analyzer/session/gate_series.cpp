#include "analyzer/session/gate_series.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/judged_series.hpp"
#include "snapdiff/counters.hpp"

namespace snapdiff::session {
namespace {

/// Levels alone: what is counted up always grows.
bool is_level(const CounterRow& row) { return !row.cumulative && row.known() >= 2; }

TrendReport trend_of_counters(CounterReport counters) {
  TrendReport trend;
  trend.axis = std::move(counters.axis);
  GrowthReport& overall = trend.series.overall;
  overall.baseline = counters.snapshots.front();
  overall.current = counters.snapshots.back();
  overall.metric = "counters";
  overall.options.by = GroupBy::function;
  const auto in_bytes = [](const CounterRow& row) { return is_level(row) && row.unit == "bytes"; };
  const auto chosen = std::find_if(counters.rows.begin(), counters.rows.end(), in_bytes);
  const auto first =
      chosen != counters.rows.end() ? chosen : std::find_if(counters.rows.begin(), counters.rows.end(), is_level);
  overall.unit = first == counters.rows.end() ? "bytes" : first->unit;
  for (CounterRow& row : counters.rows) {
    if (!is_level(row) || row.unit != overall.unit) continue;
    GrowthRow growth;
    growth.key = static_cast<std::uint32_t>(overall.keys.size());
    growth.value = {row.before(), row.after()};
    overall.keys.push_back(row.name);
    overall.rows.push_back(growth);
    trend.verdicts.push_back(std::move(row.verdict));
  }
  for (SnapshotRef& snapshot : counters.snapshots) {
    SeriesStep step;
    step.snapshot = std::move(snapshot);
    trend.series.steps.push_back(std::move(step));
  }
  return trend;
}

}  // namespace

Result<GateSeries> gate_series(std::span<const SnapshotRef> snapshots, const DiffOptions& options, bool counters) {
  return guarded([&]() -> GateSeries {
    if (snapshots.size() < 2) fail({ErrorCode::usage, "a gate needs at least two snapshots: found 1"});
    if (counters || diff::has_counters_only(snapshots))
      return {trend_of_counters(value_or_throw(judged_counters(snapshots))), true};
    return {value_or_throw(judge_series(snapshots, options)), false};
  });
}

}  // namespace snapdiff::session
