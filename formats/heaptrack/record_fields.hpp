#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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
