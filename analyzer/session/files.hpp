#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "snapdiff/result.hpp"

/// Files that users write by hand, and files that are written for them.
namespace snapdiff::session {

/// The bytes of a file that a user writes by hand, of at most 1 MiB; a pipe will do.
/// Errors: io; limit, once more has come. Both about `path`.
Result<std::string> read_small_file(const std::string& path);

/// Hands its parameter an output piece by piece.
using Pieces = std::function<void(const std::function<void(std::string_view)>& take)>;

/// Writes a whole file, or none: to a temporary name beside it, then renamed. A file that is there keeps its mode, and
/// is replaced unless it is a SQLite file. Errors: usage (that), io, both about `path`; what `pieces` throws.
Status write_file(const std::string& path, const Pieces& pieces);
Status write_file(const std::string& path, std::string_view bytes);

}  // namespace snapdiff::session
