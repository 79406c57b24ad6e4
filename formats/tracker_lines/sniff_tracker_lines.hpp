#pragma once

#include <string>
#include <string_view>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::tracker_lines {

/// Certain when the first line that is neither empty nor a comment names the format.
Match sniff(std::string_view head);

/// Why a near relative is refused: a header that names no format, the same in UTF-16.
std::string refusal(std::string_view head);

}  // namespace snapdiff::formats::tracker_lines
