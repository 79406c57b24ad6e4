#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "snapdiff/api.hpp"
#include "snapdiff/result.hpp"

/// What a TOML file of a user may be at most, looked at before a parser that recurses sees it: a file that lies
/// in a folder of foreign snapshots is foreign, too.
namespace snapdiff {

inline constexpr std::size_t kMaxTomlBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxTomlDepth = 64;  ///< arrays and inline tables within each other; parts of a key
inline constexpr std::size_t kMaxTomlKeyBytes = 1024;

/// Errors: limit, with the line, where `text` is beyond a bound. `file` is what messages call it.
SNAPDIFF_API Status check_toml_bounds(std::string_view text, const std::string& file);

}  // namespace snapdiff
