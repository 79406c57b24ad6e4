#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Times and durations that options give.
namespace snapdiff::cli {

/// The time that an option names, nothing where it was not given. Throws usage, with the option's name.
///   a moment    "2026-11-01", "2026-11-01 12:00", "2026-11-01T12:00:05Z" (UTC), "@1764000000", "14d", "36h", "30m"
///               before now; "+24h" after `base`. Nanoseconds since 1970
///   a duration  "30s", "5m", "1h", "14d", in nanoseconds
std::optional<std::uint64_t> moment_of(std::string_view option, const std::string& text,
                                       std::optional<std::uint64_t> base = {});
std::optional<std::uint64_t> duration_of(std::string_view option, const std::string& text);
/// "2026-11-01 12:00:05"
std::string moment_text(std::uint64_t time_ns);
std::uint64_t current_time_ns();

}  // namespace snapdiff::cli
