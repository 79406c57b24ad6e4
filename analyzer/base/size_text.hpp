#pragma once

#include <optional>
#include <string_view>

#include "snapdiff/api.hpp"

namespace snapdiff {

/// "64KiB", "10MB", "1.5 GiB", "4096": bytes in binary units, case ignored; nothing where the text is
/// no size or beyond 9.2e18.
SNAPDIFF_API std::optional<double> parse_bytes(std::string_view text);

}  // namespace snapdiff
