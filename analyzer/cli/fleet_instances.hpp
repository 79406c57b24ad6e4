#pragma once

#include <span>

#include "analyzer/cli/fleet_series.hpp"
#include "analyzer/fleet/fleet.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::cli {

/// Says on how many instances each row of a report grew, and each culprit of one by stack. A row of several stacks grew
/// where all of them together did; by function, file, line and module these are the stacks that hold the key.
/// `snapshots`, `pivot`: of the report; `known`: the growth, where it need not be asked for.
void count_instances(fleet::Fleet& from, std::span<const MomentPair> pairs, std::span<const SnapshotRef> snapshots,
                     const fleet::Pivot* pivot, GrowthReport& report,
                     std::optional<std::vector<fleet::InstanceGrowth>> known = {});

}  // namespace snapdiff::cli
