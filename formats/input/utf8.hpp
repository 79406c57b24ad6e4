#pragma once

#include <cstring>

#include "analyzer/base/printable.hpp"

/// UTF-8 beside decode_utf8() (snapdiff/printable.hpp).
namespace snapdiff::formats {

inline bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (std::uint64_t eight = 0; text.size() - at >= sizeof eight) {
      std::memcpy(&eight, text.data() + at, sizeof eight);
      if ((eight & 0x8080808080808080U) == 0) {
        at += sizeof eight;
        continue;
      }
    }
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
