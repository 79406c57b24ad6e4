#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/fleet/fleet.hpp"
#include "snapdiff/notes.hpp"

/// Which snapshots of many instances are compared, and what is left out of it.
namespace snapdiff::cli {

/// The snapshots of one process on one machine, oldest first: by the times inside the files, or as they were pushed.
struct InstanceSeries {
  std::string service, instance;
  std::vector<const fleet::Committed*> snapshots;
};

/// Rows of one metric: `wanted`, else in-use bytes, else the only one in bytes. Throws usage, with the metrics there
/// are.
std::string choose_fleet_metric(const std::vector<fleet::Committed>& rows, const std::string& wanted);

/// Instances in order of their names.
std::vector<InstanceSeries> instance_series(const std::vector<fleet::Committed>& rows, const std::string& metric);

using MomentPair = std::pair<const fleet::Committed*, const fleet::Committed*>;

/// Two moments, on the instances that are there at both.
struct TwoMoments {
  std::vector<MomentPair> pairs;
  Notes notes;
};
TwoMoments two_moments(const std::vector<InstanceSeries>& instances, std::optional<std::uint64_t> from,
                       std::optional<std::uint64_t> to, const std::string& unit);

/// Steps of equal length, on the instances that have a snapshot at each of them; of one instance its snapshots.
struct StepGrid {
  std::vector<fleet::Step> steps;
  std::vector<MomentPair> ends;  ///< first and last of each instance
  std::uint64_t step_ns = 0;
  Notes notes;
};
StepGrid step_grid(const std::vector<InstanceSeries>& instances, std::optional<std::uint64_t> step_ns);

}  // namespace snapdiff::cli
