#pragma once

#include <string>
#include <string_view>

namespace snapdiff::formats::text {

/// `text` for a message: in quotes, at most 60 bytes of it, what is not printable ASCII as \xNN.
std::string in_quotes(std::string_view text);

}  // namespace snapdiff::formats::text
