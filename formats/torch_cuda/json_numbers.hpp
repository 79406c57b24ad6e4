#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/input/read_failure.hpp"
#include "formats/json/json_scanner.hpp"

namespace snapdiff::formats::torch_cuda {

/// Consumes a number, whole or not, and rounds it down. Throws Failure for another value, and beyond 2^63.
inline std::int64_t floored_number(json::JsonScanner& json) {
  if (json.kind() != json::Kind::number) json.unexpected("a number");
  const std::uint64_t start = json.offset();
  const std::string_view text = json.number_text();
  const char* const end = text.data() + text.size();
  std::int64_t value = 0;
  if (const auto [at, failure] = std::from_chars(text.data(), end, value); failure == std::errc{} && at == end)
    return value;
  double real = 0;
  if (std::from_chars(text.data(), end, real).ec != std::errc{} || !(std::fabs(real) < 9e18))
    fail_malformed("'" + std::string(text) + "' is no number below 2^63", start);
  return static_cast<std::int64_t>(std::floor(real));
}

}  // namespace snapdiff::formats::torch_cuda
