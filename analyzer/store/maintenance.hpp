#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analyzer/store/session.hpp"
#include "analyzer/store/store.hpp"

/// What keeps a store small, whole and together with others. All inside the caller's transaction.
namespace snapdiff::store {

/// Takes snapshots out, writes those again that were stored as changes against them, and deletes
/// what nothing refers to any more. Ids of the rest stay. Throws usage (unknown id).
void remove_snapshots(Session& session, std::span<const SnapshotId> ids);

/// Of (snapshot, base) as `select_sql` gives them, the snapshots that stay while what they are changes against goes.
std::vector<std::int64_t> dependents(sqlite3* db, const char* select_sql, const std::set<std::int64_t>& removed);

/// Deletes sources, memory maps, stacks, frames, functions, modules, label sets and strings that no
/// snapshot uses. The session must be dropped afterwards.
void collect_garbage(Session& session);

/// Failures in reading are about `from_path`. Returns how many snapshots were new.
std::size_t merge_snapshots(Session& from, const std::string& from_path, Session& into);

std::optional<std::string> read_source(sqlite3* db, std::int64_t snapshot);

/// Throws malformed with the first thing that is wrong.
void check_store(Session& session);

/// Names of addresses, from a dictionary that has them. Drop the session afterwards.
std::size_t name_addresses(Session& session, const Dictionary& named);

}  // namespace snapdiff::store
