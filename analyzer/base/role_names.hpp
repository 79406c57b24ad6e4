#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace snapdiff {

/// What memory of a device is for, in the words of PyTorch's memory profiler. A role's place here is its number, and
/// that of its colour in every chart.
inline constexpr std::array<std::string_view, 10> kRoleNames = {
    "unknown",         "parameter", "gradient",  "optimizer state", "activation",
    "autograd detail", "input",     "temporary", "workspace",       "before trace"};

/// That of `unknown` for another word.
constexpr std::size_t role_number(std::string_view role) {
  const auto at = std::find(kRoleNames.begin(), kRoleNames.end(), role);
  return at == kRoleNames.end() ? 0 : static_cast<std::size_t>(at - kRoleNames.begin());
}

}  // namespace snapdiff
