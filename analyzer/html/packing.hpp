#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Bytes for the page's data blocks: variable-length integers, deflate, base64.
namespace snapdiff::html {

class Bytes {
 public:
  /// Seven bits a byte, the lowest first, the top bit set on all but the last.
  void number(std::uint64_t value) {
    while (value >= 0x80) {
      text_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    text_ += static_cast<char>(value);
  }
  /// 0, -1, 1, -2, ... as 0, 1, 2, 3.
  void difference(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void text(std::string_view bytes) {
    number(bytes.size());
    text_ += bytes;
  }
  const std::string& all() const { return text_; }

 private:
  std::string text_;
};

/// Raw deflate at a fixed level: same bytes in, same bytes out. Throws std::bad_alloc.
std::string deflated(std::string_view bytes);

std::string base64(std::string_view bytes);

/// Size in base64.
constexpr std::size_t base64_size(std::size_t bytes) { return (bytes + 2) / 3 * 4; }

}  // namespace snapdiff::html
