#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/base/number_text.hpp"
#include "snapdiff/api.hpp"
#include "snapdiff/growth.hpp"

/// Figures as words: counts of things, spans and moments of time.
namespace snapdiff {

/// "1 object", "-12 objects", "3 addresses"; `with_sign`: "+12 objects".
SNAPDIFF_API std::string counted(std::int64_t count, std::string_view thing, const NumberGlyphs& glyphs = {},
                                 bool with_sign = false);
template <std::unsigned_integral Count>
std::string counted(Count count, std::string_view thing, const NumberGlyphs& glyphs = {}) {
  return counted(static_cast<std::int64_t>(count), thing, glyphs);
}

/// "42 s", "11.5 min", "3.2 h", "12.4 d".
SNAPDIFF_API std::string duration_text(double seconds, const NumberGlyphs& glyphs = {});

/// "2024-05-01 12:00:07" in UTC of nanoseconds since 1970; `between` date and time.
SNAPDIFF_API std::string utc_text(std::int64_t unix_ns, char between = ' ');

/// "512 KiB", "512 KiB and 1.00 MiB": how far apart the samples of both sides are on average; "" where neither says.
SNAPDIFF_API std::string sampling_periods(const GrowthReport& report, const NumberGlyphs& glyphs = {});

}  // namespace snapdiff
