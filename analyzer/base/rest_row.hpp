#pragma once

#include <string_view>

namespace snapdiff {

/// Text of the pseudo frame of the row that holds the rest of a list which leaves rows out. A list without such a row
/// does not say how much it leaves out.
inline constexpr std::string_view kBelowThreshold = "[below threshold]";

}  // namespace snapdiff
