#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace snapdiff::formats::pickle {

/// Bytes of the UTF-8 character at `p`, 0 where there is none (Unicode 15, table 3-7).
inline std::size_t utf8_length(const char* p, std::size_t left) {
  const auto at = [p](std::size_t i) { return static_cast<std::uint8_t>(p[i]); };
  const auto follows = [&](std::size_t i) { return (at(i) & 0xc0) == 0x80; };
  const std::uint8_t lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return left >= 2 && follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (left < 3 || !follows(1) || !follows(2)) return 0;
    if ((lead == 0xe0 && at(1) < 0xa0) || (lead == 0xed && at(1) > 0x9f)) return 0;  // long forms, surrogates
    return 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (left < 4 || !follows(1) || !follows(2) || !follows(3)) return 0;
    if ((lead == 0xf0 && at(1) < 0x90) || (lead == 0xf4 && at(1) > 0x8f)) return 0;
    return 4;
  }
  return 0;
}

inline bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.data() + i, text.size() - i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

/// `text` with U+FFFD in the place of each byte that is no part of a character.
inline std::string mended_utf8(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.data() + i, text.size() - i);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      ++i;
    } else {
      out.append(text.substr(i, length));
      i += length;
    }
  }
  return out;
}

}  // namespace snapdiff::formats::pickle
