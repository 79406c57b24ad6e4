#pragma once

#include <cstdint>

#include "snapdiff/result.hpp"
#include "snapdiff/trend.hpp"

/// Series that were made on purpose: round trips, and baseline - target - final.
namespace snapdiff::trend {

/// Keeps the rows whose objects grew by at least `loops` between every two snapshots. `report` must
/// hold the objects of all rows (diff_series with an object floor of 0), or be counted in objects itself.
/// A row that grew so but whose total in the metric did not is kept too, at the end.
/// Source: LeakCanary, docs/heap-growth.md. Errors: usage (nothing to count by, loops below 1).
Status find_round_trips(TrendReport& report, std::int64_t loops);

/// Keeps the rows of which the last of three snapshots still holds something that the second added to
/// the first: min(target - baseline, final - baseline). Errors: usage (not three snapshots), limit.
Status find_triple(TrendReport& report);

}  // namespace snapdiff::trend
