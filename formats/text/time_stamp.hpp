#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace snapdiff::formats::text {

struct TimeStamp {
  std::int64_t ns = 0;    ///< since 1970
  bool has_zone = false;  ///< else it was taken as UTC
};

/// The time of a log prefix: a date and a time of day (2026-11-21 20:14:42.125, with T, / and a zone,
/// too) within the first 64 bytes, or seconds since 1970 at the start.
std::optional<TimeStamp> find_time(std::string_view line);

/// A whole text: as above, or any number of seconds since 1970.
std::optional<TimeStamp> parse_time(std::string_view text);

/// Nanoseconds since 1970 of "2026-01-01T00:00:00.5+01:00" (RFC 3339 section 5.6); nullopt when it is none, or beyond
/// 64 bits. Digits beyond the ninth of a second are cut.
std::optional<std::int64_t> parse_rfc3339(std::string_view text);

/// The same of seconds; nullopt when beyond 64 bits.
std::optional<std::int64_t> nanoseconds_of(double seconds);
/// @copydoc nanoseconds_of
std::optional<std::int64_t> nanoseconds_of(std::int64_t seconds);

}  // namespace snapdiff::formats::text
