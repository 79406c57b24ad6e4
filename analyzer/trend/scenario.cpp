#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "analyzer/trend/verdict.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::trend {
namespace {

struct Kept {
  std::uint32_t row = 0;
  std::int64_t kept = 0;
  std::int64_t least = 0;
};

/// Most kept first; ties keep the order of the rows, which is total.
Status fill(TrendReport& report, Scenario scenario, std::vector<Kept> found) {
  scenario.kept.assign(report.series.overall.rows.size(), 0);
  scenario.least = scenario.kept;
  std::stable_sort(found.begin(), found.end(), [](const Kept& a, const Kept& b) { return a.kept > b.kept; });
  for (const Kept& one : found) {
    scenario.rows.push_back(one.row);
    scenario.kept[one.row] = one.kept;
    scenario.least[one.row] = one.least;
    if (!checked_add(scenario.kept_total, one.kept, scenario.kept_total))
      return Error{ErrorCode::limit, "what the scenario keeps is beyond 2^63-1 in all, expected it to fit in 64 bits"};
  }
  report.scenario = std::move(scenario);
  return ok();
}

/// The smallest difference of neighbours; the lowest number where one leaves 64 bits downwards.
std::int64_t least_step(std::span<const std::int64_t> values) {
  using Number = std::numeric_limits<std::int64_t>;
  std::int64_t least = Number::max();
  for (std::size_t i = 1; i < values.size(); ++i) {
    std::int64_t step = 0;
    if (!checked_sub(values[i], values[i - 1], step)) step = values[i] < values[i - 1] ? Number::min() : Number::max();
    least = std::min(least, step);
  }
  return least;
}

}  // namespace

Status find_round_trips(TrendReport& report, std::int64_t loops) {
  const GrowthReport& overall = report.series.overall;
  const std::size_t n = overall.series_length;
  const bool is_count = overall.unit == "count";
  if (loops < 1)
    return Error{ErrorCode::usage, "number of round trips: found " + std::to_string(loops) + ", expected 1 or more"};
  if (n < 2 || (!is_count && overall.object_place.size() != overall.rows.size()))
    return Error{ErrorCode::usage, "no counts of objects beside " + overall.metric +
                                       ": round trips are judged by what they leave in each round"};
  Scenario scenario;
  scenario.loops = loops;
  std::vector<Kept> found;
  std::vector<std::int64_t> scratch;
  for (std::uint32_t row = 0; row < overall.rows.size(); ++row) {
    if (!is_count && overall.object_place[row] == GrowthReport::kNoPlace) continue;
    const std::int64_t least = least_step(is_count ? overall.series.row(row, scratch)
                                                   : overall.object_series.row(overall.object_place[row], scratch));
    if (least >= loops) found.push_back({row, overall.rows[row].value.growth(), least});
  }
  return fill(report, std::move(scenario), std::move(found));
}

Status find_triple(TrendReport& report) {
  const GrowthReport& overall = report.series.overall;
  if (overall.series_length != 3)
    return Error{ErrorCode::usage, "baseline, target and final: found " + std::to_string(report.series.steps.size()) +
                                       " snapshots, expected 3"};
  Scenario scenario;
  scenario.kind = Scenario::Kind::triple;
  std::vector<Kept> found;
  std::vector<std::int64_t> scratch;
  for (std::uint32_t row = 0; row < overall.rows.size(); ++row) {
    const std::span<const std::int64_t> values = overall.series.row(row, scratch);
    std::int64_t kept = 0;
    if (!checked_sub(std::min(values[1], values[2]), values[0], kept))
      return Error{ErrorCode::limit,
                   "growth of " + overall.metric + " is beyond 2^63-1, expected it to fit in 64 bits"};
    if (kept > 0) found.push_back({row, kept, 0});
  }
  return fill(report, std::move(scenario), std::move(found));
}

}  // namespace snapdiff::trend
