#pragma once

#include <string>
#include <string_view>

#include "snapdiff/result.hpp"

/// Files that users write by hand, and files that are written for them.
namespace snapdiff::session {

/// The bytes of a file that a user writes by hand, of at most 1 MiB; a pipe will do.
/// Errors: io; limit, once more has come. Both about `path`.
Result<std::string> read_small_file(const std::string& path);

/// Writes a whole file, or none: to a temporary name beside it, then renamed. A file that is there keeps its mode, and
/// is replaced only by what is of its kind, as far as the first bytes say: text, a picture, a page, a SQLite file.
/// Errors: usage (of another kind), io, both about `path`.
Status write_file(const std::string& path, std::string_view bytes);

}  // namespace snapdiff::session
