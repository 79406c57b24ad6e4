#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "snapdiff/result.hpp"
#include "snapdiff/trend.hpp"

namespace snapdiff::cli {

/// The trend of two or more snapshots since the last restart. Errors: as diff::diff_series().
Result<TrendReport> trend_of(const std::vector<SnapshotRef>& refs, const DiffOptions& options,
                             std::optional<std::int64_t> limit);

}  // namespace snapdiff::cli
