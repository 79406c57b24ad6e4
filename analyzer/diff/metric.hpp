#pragma once

#include <span>
#include <string>
#include <string_view>

#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::diff {

/// The column of counts beside a column of bytes: inuse_space -> inuse_objects, x_bytes ->
/// x_objects or x_count. "" when the snapshot has none.
std::string objects_beside(const Snapshot& snapshot, std::string_view metric);

/// The other way round, for the sampling error of counts.
std::string bytes_beside(const Snapshot& snapshot, std::string_view metric);

}  // namespace snapdiff::diff
