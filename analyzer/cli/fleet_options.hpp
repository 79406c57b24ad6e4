#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/cli/command_line.hpp"
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

/// Errors: usage; io, where a credentials file cannot be read or others may read it.
Result<fleet::Fleet> connect(const FleetOptions& options);

/// "2026-11-01", "2026-11-01 12:00", "2026-11-01T12:00:05Z" (UTC), "@1764000000", "14d", "36h", "30m" before now;
/// "+24h" after `base`. Nanoseconds since 1970. Errors: usage.
Result<std::uint64_t> parse_moment(const std::string& text, std::optional<std::uint64_t> base);
/// "30s", "5m", "1h", "14d" in nanoseconds. Errors: usage.
Result<std::uint64_t> parse_duration(const std::string& text);
/// "2026-11-01 12:00:05"
std::string moment_text(std::uint64_t time_ns);
std::uint64_t current_time_ns();

/// Says an error, without calling missing bytes on a server a bug of ours; returns the exit code.
int fail_of_fleet(const Error& error);

}  // namespace snapdiff::cli
