#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

namespace snapdiff {

/// A text put together: texts as they are, whole numbers in decimal.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string out;
  const auto add = [&out](const auto& part) {
    if constexpr (std::integral<std::remove_cvref_t<decltype(part)>>) {
      out += std::to_string(part);
    } else {
      out += std::string_view(part);
    }
  };
  (add(parts), ...);
  return out;
}

}  // namespace snapdiff
