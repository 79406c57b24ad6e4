#pragma once

#include <string>
#include <string_view>

namespace snapdiff::formats {

/// What a file that no importer takes is, by its first bytes: "a PNG image", "a legacy CPU
/// profile"; "" when it is nothing known.
std::string foreign_kind(std::string_view head);

}  // namespace snapdiff::formats
