#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "snapdiff/api.hpp"

/// How text of unknown origin is made harmless, the same on terminals, in files and on pages.
namespace snapdiff {

/// One code point of UTF-8. `length` 0: the byte at `at` starts no valid sequence (overlong forms,
/// surrogates and values beyond U+10FFFF are invalid).
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0;
};

inline CodePoint decode_utf8(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i]));
  };
  const std::size_t left = bytes.size() - at;
  const auto tail = [&](std::size_t i) { return i < left && (byte(i) & 0xC0) == 0x80; };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead >= 0xC2 && lead <= 0xDF && tail(1)) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (lead >= 0xE0 && lead <= 0xEF && tail(1) && tail(2)) {
    const std::uint32_t value = (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    if (value >= 0x800 && (value < 0xD800 || value > 0xDFFF)) return {value, 3};
  }
  if (lead >= 0xF0 && lead <= 0xF4 && tail(1) && tail(2) && tail(3)) {
    const std::uint32_t value = (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    if (value >= 0x10000 && value <= 0x10FFFF) return {value, 4};
  }
  return {};
}

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

/// Control characters; code points that hide text, join what stands apart or change the order in which it is shown;
/// those that never are characters.
constexpr bool is_unsafe(std::uint32_t code) {
  const auto in = [code](std::uint32_t first, std::uint32_t last) { return code >= first && code <= last; };
  if (code < 0x7F) return code < 0x20;
  return in(0x7F, 0x9F) || code == 0xAD || code == 0x61C || code == 0x180E || in(0x200B, 0x200F) ||
         in(0x2028, 0x202E) || in(0x2060, 0x206F) || code == 0xFEFF || in(0xFDD0, 0xFDEF) || in(0xFFF0, 0xFFFB) ||
         (code & 0xFFFE) == 0xFFFE || in(0xE0000, 0xE0FFF);
}

/// Two hexadecimal digits.
inline void append_hex(std::string& out, char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += kDigits[static_cast<unsigned char>(byte) >> 4];
  out += kDigits[static_cast<unsigned char>(byte) & 15];
}

/// "\x1b": two hexadecimal digits for each byte.
inline void append_escaped(std::string& out, std::string_view bytes) {
  for (const char byte : bytes) append_hex(out += "\\x", byte);
}

/// Control characters (C0, DEL, C1), invisible and direction-changing code points and invalid UTF-8
/// as \xNN per byte; with `utf8` false every byte above 0x7E too.
SNAPDIFF_API std::string printable(std::string_view bytes, bool utf8 = true);

}  // namespace snapdiff
