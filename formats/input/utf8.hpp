#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "snapdiff/printable.hpp"

/// UTF-8 beside decode_utf8() (snapdiff/printable.hpp).
namespace snapdiff::formats {

/// The 1 to 4 bytes of `code`, which is below 0x110000; half a surrogate pair becomes three bytes of its own (WTF-8).
inline void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
    }
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

inline bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = decode_utf8(text, at).length;
    if (length == 0) return false;
    at += length;
  }
  return true;
}

/// `text` with U+FFFD in the place of each byte that starts no valid sequence.
inline std::string repaired_utf8(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = decode_utf8(text, at).length;
    out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return out;
}

}  // namespace snapdiff::formats
