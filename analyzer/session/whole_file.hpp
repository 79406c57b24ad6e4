#pragma once

#include <string>
#include <string_view>

#include "snapdiff/result.hpp"

namespace snapdiff::session {

/// Writes a whole file, or none: to a temporary name beside it, then renamed.
/// Errors: io, about `path`.
Status write_file(const std::string& path, std::string_view bytes);

}  // namespace snapdiff::session
