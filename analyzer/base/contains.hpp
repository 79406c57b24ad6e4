#pragma once

#include <string_view>

namespace snapdiff {

/// Whether `part` is somewhere in `text`; the empty one always is.
constexpr bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace snapdiff
