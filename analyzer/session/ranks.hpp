#pragma once

#include <span>
#include <vector>

#include "snapdiff/device_memory.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/opened.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::session {

/// Snapshots of processes that do the same work, beside each other; `ranks` say what each is called. Errors: usage
/// (fewer than two); those of diff::diff_series().
Result<RankReport> rank_snapshots(std::span<const SnapshotRef> snapshots, std::vector<RankFacts> ranks,
                                  const DiffOptions& options);

/// The same of loaded snapshots: a rank is each device of each of them.
Result<RankReport> rank_devices(const Loaded& loaded, const DiffOptions& options);

}  // namespace snapdiff::session
