#pragma once

#include <vector>

#include "formats/pprof/columns.hpp"
#include "formats/pprof/profile_tables.hpp"
#include "formats/pprof/samples.hpp"
#include "snapdiff/snapshot_builder.hpp"

namespace snapdiff::formats::pprof {

/// Fills the facts that are in the profile itself, and the notes that follow from them.
/// Throws ReadFailure.
void fill_facts(const ProfileTables& tables, const std::vector<ColumnPlan>& columns, const SampleRemarks& remarks,
                SnapshotBuilder& builder);

}  // namespace snapdiff::formats::pprof
