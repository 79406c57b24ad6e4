#pragma once

#include <optional>
#include <span>

#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/trend.hpp"

/// The series that a gate judges.
namespace snapdiff::session {

/// A series since its last restart; of logs their counters in bytes (of another unit where none is in bytes), each a
/// row of its own with its verdict, keyed by name.
struct GateSeries {
  TrendReport trend;
  bool counters = false;
};

/// `counters`: also where the snapshots hold stacks. Errors: those of judge_series(); usage (fewer than two snapshots).
Result<GateSeries> gate_series(std::span<const SnapshotRef> snapshots, const DiffOptions& options,
                               bool counters = false);

}  // namespace snapdiff::session
