#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// What follows the sign in nearly every line of a recording: a number of a few digits, then the line's end.
namespace snapdiff::formats::heaptrack {

/// By two characters as they lie in memory, the first one in the low byte: the value of both digits 0-9 and a-f; -1
/// where one is none. Only some 3 KB of it are ever touched.
inline constexpr std::array<std::int16_t, 65536> kHexPairValue = [] {
  std::array<std::int16_t, 65536> table{};
  for (auto& value : table) value = -1;
  constexpr char kDigits[] = "0123456789abcdef";
  for (unsigned high = 0; high < 16; ++high) {
    for (unsigned low = 0; low < 16; ++low) {
      const unsigned pair = unsigned{static_cast<unsigned char>(kDigits[high])} |
                            unsigned{static_cast<unsigned char>(kDigits[low])} << 8U;
      table[pair] = static_cast<std::int16_t>(high << 4U | low);
    }
  }
  return table;
}();

struct LineOfHex {
  static constexpr std::size_t kReads = 8;  ///< bytes
  std::uint32_t value = 0;
  std::uint32_t digits = 0;  ///< 1 to 6, then comes '\n'; 0: a line of another shape
};

/// The number of digits 0-9 and a-f at p, of which kReads bytes are read in one word. No branch depends on a digit:
/// how many there are changes from line to line, which no processor can foresee.
inline LineOfHex line_of_hex(const char* p) {
  constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101;
  constexpr unsigned kMostDigits = 6;
  std::uint64_t word = 0;
  std::memcpy(&word, p, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);

  // All digits have bit 5, a line's end has not.
  const std::uint64_t ends = ~word & kOnes << 5;
  const unsigned digits = static_cast<unsigned>(std::countr_zero(ends)) / 8;
  if (digits - 1 >= kMostDigits || p[digits] != '\n') return {};

  // The digits to the top, the last one uppermost, below them zeros.
  word = word << (64 - 8 * digits) | (kOnes * '0') >> (8 * digits);
  const int low = kHexPairValue[word >> 48];
  const int middle = kHexPairValue[word >> 32 & 0xffff];
  const int high = kHexPairValue[word >> 16 & 0xffff];
  if ((low | middle | high) < 0) return {};
  return {static_cast<std::uint32_t>(high << 16 | middle << 8 | low), digits};
}

}  // namespace snapdiff::formats::heaptrack
