#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace snapdiff::formats::tracker_lines {

/// Nanoseconds since 1970 of "2026-01-01T00:00:00.5+01:00" (RFC 3339 section 5.6); nullopt when it is none, or beyond
/// 64 bits. Digits beyond the ninth of a second are cut.
std::optional<std::int64_t> parse_rfc3339(std::string_view text);

/// The same of seconds; nullopt when beyond 64 bits.
std::optional<std::int64_t> nanoseconds_of(double seconds);
/// @copydoc nanoseconds_of
std::optional<std::int64_t> nanoseconds_of(std::int64_t seconds);

}  // namespace snapdiff::formats::tracker_lines
