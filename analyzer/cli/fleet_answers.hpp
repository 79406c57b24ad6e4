#pragma once

#include "analyzer/cli/fleet_options.hpp"
#include "analyzer/cli/gate_answer.hpp"
#include "analyzer/cli/options.hpp"
#include "analyzer/cli/terminal.hpp"

/// The questions to a fleet, each with its exit code.
namespace snapdiff::cli {

/// Everything that `fleet` takes; `word` is the question.
struct FleetQuestion {
  std::string word;
  Options options;
  FleetOptions servers;
  GateOptions gate;
  Terminal terminal;
  std::optional<std::int64_t> limit, floor;
  std::int64_t keep_days = 30, keep_hourly_days = 400;
  bool print = false, on_cluster = false;
  std::vector<std::string> words;  ///< after the question's own
};

/// The snapshots that the options select, as the servers list them. Errors: usage (none are listed).
std::vector<fleet::Committed> rows_of_slice(fleet::Fleet& from, const FleetQuestion& asked);

int fleet_init(const FleetQuestion& asked);
int fleet_list(const FleetQuestion& asked);
int fleet_info(const FleetQuestion& asked);
int fleet_sql(const FleetQuestion& asked);
int fleet_pull(const FleetQuestion& asked);
int fleet_rm(const FleetQuestion& asked);
int fleet_diff(const FleetQuestion& asked);
int fleet_trend(const FleetQuestion& asked);
int fleet_gate(const FleetQuestion& asked);
int fleet_outliers(const FleetQuestion& asked);

}  // namespace snapdiff::cli
