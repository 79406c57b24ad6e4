#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "snapdiff/api.hpp"

/// Numbers for people, the same in every table, page and sentence: three significant digits,
/// binary units for bytes, rounded half away from zero from the exact integer.
namespace snapdiff {

/// Plain text takes an ASCII minus and groups no digits, so that a pasted or piped number still parses; pages take
/// U+2212 and thin or no-break spaces. Tables on a terminal group digits themselves.
struct NumberGlyphs {
  std::string_view minus = "-";
  std::string_view thousands;
  std::string_view before_unit = " ";
};

/// Without its sign, also of -2^63.
inline std::uint64_t magnitude(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? ~bits + 1 : bits;
}

/// The nearest whole number, within what 64 bits hold.
inline std::int64_t whole_number(double value) { return std::llround(std::clamp(value, -9.2e18, 9.2e18)); }

/// "0 B", "999 B", "64.0 KiB", "2.52 MiB", "-4.00 MiB".
SNAPDIFF_API std::string bytes_text(std::int64_t bytes, const NumberGlyphs& glyphs = {});

/// The same with its sign always shown; zero has none: "+2.52 MiB", "0 B".
SNAPDIFF_API std::string growth_text(std::int64_t bytes, const NumberGlyphs& glyphs = {});

/// "0", "999", "44011", "-1000".
SNAPDIFF_API std::string count_text(std::int64_t count, const NumberGlyphs& glyphs = {});
template <std::unsigned_integral Count>
std::string count_text(Count count, const NumberGlyphs& glyphs = {}) {
  return count_text(static_cast<std::int64_t>(count), glyphs);
}

SNAPDIFF_API std::string growth_count_text(std::int64_t count, const NumberGlyphs& glyphs = {});

/// A value in the unit of its metric: "bytes" and "nanoseconds" are scaled, all else is counted.
SNAPDIFF_API std::string value_text(std::int64_t value, std::string_view unit, bool force_plus = false,
                                    const NumberGlyphs& glyphs = {});

/// "stayed at 2.52 MiB", "grew from 1.02 to 6.72 MiB", "shrank from 6.72 MiB to 12.0 KiB"; where both ends read alike,
/// "grew by 1.20 MiB to 6.37 GiB".
SNAPDIFF_API std::string change_text(std::int64_t before, std::int64_t after, std::string_view unit,
                                     const NumberGlyphs& glyphs = {});

/// "[1 other]", "[2000 others]": rows that a table leaves out.
SNAPDIFF_API std::string others_text(std::int64_t count, const NumberGlyphs& glyphs = {});
template <std::unsigned_integral Count>
std::string others_text(Count count, const NumberGlyphs& glyphs = {}) {
  return others_text(static_cast<std::int64_t>(count), glyphs);
}

/// "0x7f00".
SNAPDIFF_API std::string hex_text(std::uint64_t value);

/// "47 %", "<1 %", ">99 %", "0 %"; "n/a" when the whole is 0. Whole numbers; the sign is kept.
SNAPDIFF_API std::string percent_text(std::int64_t part, std::int64_t whole, const NumberGlyphs& glyphs = {});

}  // namespace snapdiff
