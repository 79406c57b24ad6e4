#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/cli/fleet_answers.hpp"
#include "analyzer/cli/fleet_series.hpp"
#include "analyzer/report/report.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/notes.hpp"

/// Code shared by the questions about growth.
namespace snapdiff::cli {

/// The servers, the view and the instances that a question is about.
struct FleetSlice {
  fleet::Fleet from;
  report::Style style;
  DiffOptions view;
  std::optional<fleet::Pivot> pivot;
  std::vector<fleet::Committed> rows;
  std::vector<InstanceSeries> instances;
  std::string unit;
  Notes notes;  ///< of what was left out

  const fleet::Pivot* pivot_or_null() const { return pivot ? &*pivot : nullptr; }
};

FleetSlice open_slice(const FleetQuestion& asked);

/// The steps as snapshots with names that differ.
std::vector<SnapshotRef> fetch_refs(FleetSlice& slice, const std::vector<fleet::Step>& steps, std::int64_t floor,
                                    fleet::GrowthBeside* beside = nullptr);

/// Which step's sum of one metric stands for a single snapshot: then that snapshot comes whole.
std::vector<fleet::Step> made_whole(const FleetSlice& slice, std::vector<fleet::Step> steps);

}  // namespace snapdiff::cli
