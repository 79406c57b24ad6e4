#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/retention.hpp"
#include "snapdiff/result.hpp"

/// The public header of the objects module: who keeps whom alive in object graphs, and what of it grows. RE2 stays
/// inside. Every snapshot given must have a graph (a snapshot out of a store has none).
namespace snapdiff::objects {

/// Types with their retained sizes, over one snapshot or more, oldest first.
/// Errors: usage (no snapshot, no graph), limit (sums beyond 2^63-1, too many references).
Result<RetainedReport> retained(const std::vector<SnapshotRef>& snapshots);

struct PathOptions {
  std::string pattern;     ///< RE2, searched in type_text(); "" is every type
  std::int64_t loops = 1;  ///< what a place has to grow by from each snapshot to the next
};

/// Shortest paths from roots to the objects whose types match, and what grows along such paths
/// (README.md says how).
/// Errors: usage (no snapshot, no graph, bad pattern), limit.
Result<PathReport> paths(const std::vector<SnapshotRef>& snapshots, const PathOptions& options);

/// Whether a type, as type_text() calls it, belongs to a language, a library or an engine.
using IsLibraryType = std::function<bool(std::string_view)>;

/// The containers that grew between two object graphs, one for each growing place (README.md says how). Of `baseline`
/// without a snapshot: the containers that hold most.
/// Errors: usage (no graph), limit.
Result<OwnerReport> owners(const SnapshotRef& baseline, const SnapshotRef& current, const IsLibraryType& is_library);

/// The dominator tree by types, of `current` alone where `baseline` has no snapshot.
/// Errors: usage (no graph), limit.
Result<RetainedTree> retained_tree(const SnapshotRef& baseline, const SnapshotRef& current);

}  // namespace snapdiff::objects
