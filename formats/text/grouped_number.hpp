#pragma once

#include <cstdint>
#include <limits>

#include "formats/text/scan.hpp"

namespace snapdiff::formats::text {

/// Decimal digits with or without a comma between groups, "5,760" and "5760", as Valgrind's programs print them. False
/// where none is there or it is beyond 2^63-1; the cursor may then have moved.
inline bool take_grouped(Cursor& at, std::int64_t& out) {
  if (!is_digit(at.peek())) return false;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t value = 0;
  for (;;) {
    const char c = at.peek();
    if (is_digit(c)) {
      const auto digit = static_cast<std::uint64_t>(c - '0');
      if (value > (kMost - digit) / 10) return false;
      value = value * 10 + digit;
    } else if (c != ',' || !is_digit(at.left() > 1 ? at.rest()[1] : '\0')) {
      break;
    }
    at.take(c);
  }
  out = static_cast<std::int64_t>(value);
  return true;
}

}  // namespace snapdiff::formats::text
