#pragma once

#include <string>
#include <string_view>

#include "snapdiff/result.hpp"

namespace snapdiff::cli {

/// session::write_file(), or stdout for "-".
/// Errors: io, about `path`.
Status write_output(const std::string& path, std::string_view bytes);

/// The same, and says so of a file.
Status write_and_tell(const std::string& path, std::string_view bytes);

}  // namespace snapdiff::cli
