#include "analyzer/base/printable.hpp"

#include <algorithm>

namespace snapdiff {

std::string printable(std::string_view bytes, bool utf8) {
  if (std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= 0x20 && c < 0x7F; })) return std::string(bytes);
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint code = decode_utf8(bytes, at);
    const std::size_t length = std::max<std::size_t>(1, code.length);
    const bool safe = code.length > 0 && !is_unsafe(code.value) && (utf8 || code.value < 0x7F);
    if (safe) {
      out.append(bytes, at, length);
    } else {
      append_escaped(out, bytes.substr(at, length));
    }
    at += length;
  }
  return out;
}

}  // namespace snapdiff
