#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/trend.hpp"

/// The comparisons that commands print and draw, with what they say (analyzer/story).
namespace snapdiff::cli {

/// A series judged since its last restart, and the steps between all of its snapshots.
struct JudgedSeries {
  TrendReport trend;
  std::vector<SeriesStep> steps;
};

/// Errors: those of diff::diff_series().
Result<JudgedSeries> judge_series(std::span<const SnapshotRef> snapshots, const DiffOptions& options,
                                  std::optional<std::int64_t> limit = {}, std::optional<double> floor = {});

/// Two snapshots. Errors: those of diff::diff().
Result<GrowthReport> compare_pair(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options);

/// What types keep alive and where they are held, where both ends are object graphs; the story stands without it. Both
/// functions above have called it.
void tell_objects(GrowthReport& report);

}  // namespace snapdiff::cli
