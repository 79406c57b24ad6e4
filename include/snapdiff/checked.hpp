#pragma once

#include <cstdint>

namespace snapdiff {

/// a + b into `out`; false, and `out` unchanged, when it does not fit.
[[nodiscard]] inline bool checked_add(std::int64_t a, std::int64_t b, std::int64_t& out) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return false;
  out = sum;
  return true;
}

[[nodiscard]] inline bool checked_sub(std::int64_t a, std::int64_t b, std::int64_t& out) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return false;
  out = difference;
  return true;
}

/// Modulo 2^64: for sums that only order or draw, or whose end is known to fit.
inline std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t wrapping_difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

}  // namespace snapdiff
