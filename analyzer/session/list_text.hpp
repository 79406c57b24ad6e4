#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace snapdiff::session {

/// "a, b, c"; the first `most` of more.
inline std::string list_text(const std::vector<std::string>& names, std::size_t most = static_cast<std::size_t>(-1)) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += (i > 0 ? ", " : "") + names[i];
  return text;
}

/// "a, b and 3 others".
inline std::string list_and_others(const std::vector<std::string>& names, std::size_t most) {
  return list_text(names, most) +
         (names.size() > most ? " and " + std::to_string(names.size() - most) + " others" : std::string());
}

/// "a, b, ...".
inline std::string list_and_more(const std::vector<std::string>& names, std::size_t most) {
  return list_text(names, most) + (names.size() > most ? ", ..." : "");
}

}  // namespace snapdiff::session
