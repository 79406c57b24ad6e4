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

/// a + b and a - b modulo 2^64, for parts of a sum that fits: they may not fit themselves, and the sum over all of them
/// is right again, in whatever order it is worked out.
constexpr std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
constexpr std::int64_t wrapping_difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

}  // namespace snapdiff
