#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analyzer/store/sqlite.hpp"

namespace snapdiff::store {

/// The stacks of one stored chunk. Stack i has the id first + i; frame ids of the store, root first;
/// an empty one is a hole: an id that is no longer in use.
struct StackRun {
  std::uint32_t first = 0;
  std::vector<std::vector<std::uint32_t>> stacks;
};

/// Shows `change` every stack chunk of the store, in order of ids, and stores again those for which
/// it says true: without the holes at both ends, none when nothing else is left, several when they
/// grew beyond a chunk. Stacks keep their ids. Throws malformed.
void rewrite_stacks(sqlite3* db, const std::function<bool(StackRun&)>& change);

}  // namespace snapdiff::store
