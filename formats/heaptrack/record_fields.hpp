#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

/// Fields of one line: numbers in hexadecimal without 0x, parted by single blanks.
namespace snapdiff::formats::heaptrack {

inline constexpr std::array<std::int8_t, 256> kHexValue = [] {
  std::array<std::int8_t, 256> table{};
  for (auto& entry : table) entry = -1;
  for (int i = 0; i < 10; ++i) table[static_cast<std::size_t>('0' + i)] = static_cast<std::int8_t>(i);
  for (int i = 0; i < 6; ++i) {
    table[static_cast<std::size_t>('a' + i)] = static_cast<std::int8_t>(10 + i);
    table[static_cast<std::size_t>('A' + i)] = static_cast<std::int8_t>(10 + i);
  }
  return table;
}();
inline int hex_value(char c) { return kHexValue[static_cast<unsigned char>(c)]; }

/// Bytes that short_event() looks at.
inline constexpr std::ptrdiff_t kShortEventBytes = 10;

/// An event line as nearly all are: + or -, a blank, one to seven digits, \n. Gives the number of digits, and what they
/// say as `row`; 0 for any other line. Eight bytes at a time: a loop over digits is mispredicted at most of its ends.
inline std::size_t short_event(const char* p, std::uint32_t& row) {
  if constexpr (std::endian::native != std::endian::little) return 0;
  constexpr std::uint64_t kEach = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kEach;
  std::uint64_t text = 0;
  std::memcpy(&text, p + 2, sizeof text);
  const std::uint64_t ends = text ^ ('\n' * kEach);
  const std::uint64_t found = (ends - kEach) & ~ends & kHigh;  // its lowest bit is at the first line end
  if (found == 0 || ((p[0] != '+') & (p[0] != '-')) || p[1] != ' ') return 0;
  const auto digits = static_cast<std::size_t>(std::countr_zero(found)) / 8;
  if (digits == 0) return 0;
  // The digits go to the upper end, so that they count from there; zeros fill up below.
  const std::size_t unused = 64 - 8 * digits;
  text = text << unused | ('0' * kEach & ((std::uint64_t{1} << unused) - 1));
  const std::uint64_t plain = text & ~kHigh;
  const std::uint64_t lower = plain | 0x20 * kEach;
  const std::uint64_t is_digit = (plain + (0x80 - '0') * kEach) & ~(plain + (0x7f - '9') * kEach);
  const std::uint64_t is_letter = (lower + (0x80 - 'a') * kEach) & ~(lower + (0x7f - 'f') * kEach);
  if (((is_digit | is_letter) & ~text & kHigh) != kHigh) return 0;
  const std::uint64_t four = (text & 0x0f * kEach) + 9 * (text >> 6 & kEach);
  const std::uint64_t eight = (four & 0x00ff00ff00ff00ff) << 4 | (four >> 8 & 0x00ff00ff00ff00ff);
  const std::uint64_t sixteen = (eight & 0x0000ffff0000ffff) << 8 | (eight >> 16 & 0x0000ffff0000ffff);
  row = static_cast<std::uint32_t>(sixteen << 16 | sixteen >> 32);
  return digits;
}

class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  /// The next number; false where there is none, or one of more than 64 bits.
  bool number(std::uint64_t& out);
  /// As number(), for an index or a line; false beyond 32 bits too.
  bool number(std::uint32_t& out);
  bool at_end() const { return rest_.find_first_not_of(' ') == std::string_view::npos; }
  /// What was not read, without the blank in front.
  std::string_view text() const { return !rest_.empty() && rest_[0] == ' ' ? rest_.substr(1) : rest_; }

 private:
  std::string_view rest_;
};

/// `text` for a message: in quotes, at most 60 bytes of it, what is not printable ASCII as \xNN.
std::string quoted(std::string_view text);

}  // namespace snapdiff::formats::heaptrack
