#pragma once

#include <cstdint>

namespace snapdiff {

/// Whether a code point belongs to a script that is written from right to left (Hebrew, Arabic, Syriac, ...).
constexpr bool is_right_to_left(std::uint32_t code) {
  const auto in = [code](std::uint32_t first, std::uint32_t last) { return code >= first && code <= last; };
  return in(0x590, 0x8FF) || in(0xFB1D, 0xFDFF) || in(0xFE70, 0xFEFF) || in(0x10800, 0x10FFF) || in(0x1E800, 0x1EFFF);
}

}  // namespace snapdiff
