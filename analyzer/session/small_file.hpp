#pragma once

#include <string>

#include "snapdiff/result.hpp"

namespace snapdiff::session {

/// The bytes of a file that a user writes by hand, of at most 1 MiB; a pipe will do.
/// Errors: io; limit, once more has come. Both about `path`.
Result<std::string> read_small_file(const std::string& path);

}  // namespace snapdiff::session
