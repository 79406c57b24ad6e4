#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "analyzer/store/session.hpp"
#include "analyzer/store/store.hpp"

/// Upkeep of a store: small, whole and together with others. All inside the caller's transaction.
namespace snapdiff::store {

/// Takes snapshots out, writes those again that were stored as changes against them, and deletes
/// what nothing refers to any more. Ids of the rest stay. Throws usage (unknown id).
void remove_snapshots(Session& session, std::span<const SnapshotId> ids);

/// A table whose rows, one for a snapshot, may be stored as changes against that of an earlier one: (base, distance).
struct ChangesTable {
  std::string name;
  std::string id;  ///< its column with the snapshot
};
/// Steps from a snapshot's row to its key; 0 where it has none.
std::int64_t distance_of(sqlite3* db, const ChangesTable& table, std::int64_t snapshot);
/// Has the rows written again of snapshots that stay while what they are changes against goes: `rewrite(snapshot,
/// base)` does so against the nearest one before it that stays, if any, and says whether they are changes now.
void rewrite_dependents(sqlite3* db, const ChangesTable& table, const std::set<std::int64_t>& removed,
                        const std::function<bool(std::int64_t, std::optional<std::int64_t>)>& rewrite);

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
