#pragma once

#include <string>
#include <string_view>

#include "snapdiff/result.hpp"

namespace snapdiff::cli {

/// Writes a whole file, or none: to a temporary name beside it, then renamed. "-" is stdout.
/// Errors: io, about `path`.
Status write_output(const std::string& path, std::string_view bytes);

}  // namespace snapdiff::cli
