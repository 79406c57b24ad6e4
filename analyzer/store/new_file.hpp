#pragma once

#include <span>
#include <string>

namespace snapdiff::store {

/// Makes the database file `path` of these bytes at one stroke: it is not there, then it is there
/// whole and synced. Never replaces a file. False, with nothing left behind, where that cannot be.
bool place_new_file(const std::string& path, std::span<const unsigned char> bytes);

}  // namespace snapdiff::store
