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

}  // namespace snapdiff::formats::text
