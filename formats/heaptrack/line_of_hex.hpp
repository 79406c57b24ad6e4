#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// What follows the sign in nearly every line of a recording: a number of a few digits, then the line's end.
namespace snapdiff::formats::heaptrack {

struct LineOfHex {
  static constexpr std::ptrdiff_t kReads = 8;  ///< bytes
  std::uint32_t value = 0;
  std::ptrdiff_t digits = 0;  ///< 1 to 7, then comes '\n'; 0: a line of another shape
};

/// The number of digits 0-9 and a-f at p, of which kReads bytes are read in one word. No branch depends on a digit:
/// how many there are changes from line to line, which no processor can foresee.
inline LineOfHex line_of_hex(const char* p) {
  constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101;
  constexpr std::uint64_t kHighs = kOnes << 7;
  std::uint64_t word = 0;
  std::memcpy(&word, p, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);

  // The lowest high bit that is set here stands in the byte of the first '\n'.
  const std::uint64_t beside_end = word ^ kOnes * '\n';
  const std::uint64_t ends = (beside_end - kOnes) & ~beside_end & kHighs;
  const int bits = ends == 0 ? 0 : std::countr_zero(ends) & ~7;
  if (bits == 0) return {};

  // The digits to the top, most significant one lowest, below them zeros; all bytes digits?
  word = word << (64 - bits) | (kOnes * '0') >> bits;
  const auto from = [&](std::uint64_t c) { return word + kOnes * (0x80 - c); };  // high bit: byte >= c
  const std::uint64_t digit = (from('0') & ~from('9' + 1)) | (from('a') & ~from('f' + 1));
  if ((word & kHighs) != 0 || (digit & kHighs) != kHighs) return {};

  // Digits to their values, then two, four and eight of them to one number.
  word = (word & kOnes * 0xf) + 9 * (word >> 6 & kOnes);
  word = (word << 4 | word >> 8) & 0x00ff'00ff'00ff'00ff;
  word = (word << 8 | word >> 16) & 0x0000'ffff'0000'ffff;
  return {static_cast<std::uint32_t>(word << 16 | word >> 32), bits / 8};
}

}  // namespace snapdiff::formats::heaptrack
