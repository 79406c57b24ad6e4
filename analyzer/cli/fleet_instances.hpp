#pragma once

#include <span>

#include "analyzer/cli/fleet_series.hpp"
#include "analyzer/fleet/fleet.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::cli {

/// Says on how many instances each row and each culprit of a report by stack grew. `snapshots`: of the report; `known`:
/// the growth, where it need not be asked for.
Status count_instances(fleet::Fleet& from, std::span<const MomentPair> pairs, std::span<const SnapshotRef> snapshots,
                       GrowthReport& report, std::optional<std::vector<fleet::InstanceGrowth>> known = {});

}  // namespace snapdiff::cli
