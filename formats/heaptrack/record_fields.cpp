#include "formats/heaptrack/record_fields.hpp"

#include <limits>

namespace snapdiff::formats::heaptrack {

bool Fields::number(std::uint64_t& out) {
  std::size_t at = 0;
  while (at < rest_.size() && rest_[at] == ' ') ++at;
  const std::size_t begin = at;
  std::uint64_t value = 0;
  for (; at < rest_.size() && hex_value(rest_[at]) >= 0; ++at) {
    if (value >> 60 != 0) return false;
    value = value << 4 | static_cast<std::uint64_t>(hex_value(rest_[at]));
  }
  if (at == begin || (at < rest_.size() && rest_[at] != ' ')) return false;
  rest_.remove_prefix(at);
  out = value;
  return true;
}

bool Fields::number(std::uint32_t& out) {
  std::uint64_t wide = 0;
  if (!number(wide) || wide > std::numeric_limits<std::uint32_t>::max()) return false;
  out = static_cast<std::uint32_t>(wide);
  return true;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return out + (text.size() > kShown ? "…\"" : "\"");
}

}  // namespace snapdiff::formats::heaptrack
