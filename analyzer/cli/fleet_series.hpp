#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/fleet/fleet.hpp"
#include "snapdiff/notes.hpp"

/// Which snapshots of many instances are compared, and what is left out of it.
namespace snapdiff::cli {

/// The snapshots of an instance, oldest first: by the times inside the files, or as they were pushed.
///   process  "process 1 of 2", where several run at the same time under one name; else ""
struct InstanceSeries {
  std::string service, instance, process;
  std::vector<const fleet::Committed*> snapshots;

  std::string name() const { return process.empty() ? instance : instance + " (" + process + ")"; }
};

inline constexpr std::uint64_t kFleetHourNs = 3'600'000'000'000;

/// "h1, h2, h3, ...": instances in a note.
std::string instance_names(const std::vector<std::string>& names);

/// Rows of one metric: `wanted`, else the default one (snapdiff/default_metric.hpp). `named`: asked for the default
/// that a file names, where the metrics alone leave a choice. Throws usage, with the metrics there are.
std::string choose_fleet_metric(const std::vector<fleet::Committed>& rows, const std::string& wanted,
                                const std::function<std::string()>& named);

/// Instances in order of their names. Processes that run at the same time under one name are series of their own;
/// a process that follows another continues its series.
std::vector<InstanceSeries> instance_series(const std::vector<fleet::Committed>& rows, const std::string& metric);

/// Each process of each instance: a restart ends a series.
std::vector<InstanceSeries> lives_of(const std::vector<InstanceSeries>& instances);

/// Takes snapshots out whose times lie months from those of all others, and says of which instances.
void leave_out_clocks(std::vector<InstanceSeries>& instances, Notes& notes);

using MomentPair = std::pair<const fleet::Committed*, const fleet::Committed*>;

/// Two moments, on the instances that are there at both. Where none is (pods, whose names change with each deploy),
/// an equal number of instances of each moment, at equal age.
struct TwoMoments {
  std::vector<MomentPair> pairs;
  Notes notes;
};
TwoMoments two_moments(const std::vector<InstanceSeries>& instances, std::optional<std::uint64_t> from,
                       std::optional<std::uint64_t> to, const std::string& unit);

/// Steps of equal length; of one instance its snapshots. By the clock where all instances have a snapshot at every
/// step; else by age, since the first snapshot of each process, as far as most of them go.
struct StepGrid {
  std::vector<fleet::Step> steps;
  std::vector<MomentPair> ends;  ///< first and last of each instance
  std::uint64_t step_ns = 0;
  Notes notes;
};
StepGrid step_grid(const std::vector<InstanceSeries>& instances, std::optional<std::uint64_t> step_ns);

}  // namespace snapdiff::cli
