#include "analyzer/base/size_text.hpp"

#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

namespace snapdiff {

std::optional<double> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{}) return std::nullopt;
  std::string unit;
  for (const char* c = end; c != text.data() + text.size(); ++c) {
    if (*c != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  }
  static constexpr std::string_view kPrefixes = "kmgtp";
  int shift = 0;
  if (!unit.empty() && unit != "b") {
    const std::size_t power = kPrefixes.find(unit[0]);
    const std::string rest = unit.substr(1);
    if (power == std::string_view::npos || (!rest.empty() && rest != "b" && rest != "ib")) return std::nullopt;
    shift = 10 * (static_cast<int>(power) + 1);
  }
  const double bytes = number * static_cast<double>(std::int64_t{1} << shift);
  if (!(bytes > -9.2e18 && bytes < 9.2e18)) return std::nullopt;
  return bytes;
}

}  // namespace snapdiff
