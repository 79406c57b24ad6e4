#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/cli/command_line.hpp"
#include "analyzer/cli/option_times.hpp"
#include "analyzer/fleet/fleet.hpp"

/// What the commands over many machines take: which servers, which snapshots.
namespace snapdiff::cli {

struct FleetOptions {
  std::string url, database = "snapdiff", cluster = "fleet", credentials, authority;
  std::int64_t timeout_seconds = 300;
  std::string service, instance, version;
  std::vector<std::string> labels;
  std::string since, from, to, step;
};

void add_connection(CommandLine& line, FleetOptions& options);

/// Throws usage; io, where a credentials file cannot be read or others may read it.
fleet::Fleet connect(const FleetOptions& options);

/// Says an error, without calling missing bytes on a server a bug of ours; returns the exit code.
int fail_of_fleet(const Error& error);

}  // namespace snapdiff::cli
