#include <algorithm>
#include <set>

#include "analyzer/store/allocator_store.hpp"
#include "analyzer/store/maintenance.hpp"
#include "analyzer/store/snapshot_facts.hpp"
#include "analyzer/store/snapshot_store.hpp"

namespace snapdiff::store {
namespace {

struct StoredAs {
  std::optional<std::int64_t> base;
  std::int64_t distance = 0;
};

StoredAs stored_as(sqlite3* db, std::int64_t snapshot) {
  Statement select(db, "SELECT base, distance FROM snapshot WHERE id = ?");
  if (!select.bind(1, snapshot).step())
    fail(ErrorCode::usage, "snapshot @" + std::to_string(snapshot) + " is not in the store");
  return {select.optional_integer(0), select.integer(1)};
}

/// Writes a snapshot again against the nearest one before it that stays.
void rewrite_samples(Session& session, std::int64_t snapshot, const std::set<std::int64_t>& removed) {
  sqlite3* db = session.db();
  std::optional<std::int64_t> base = stored_as(db, snapshot).base;
  while (base && removed.contains(*base)) base = stored_as(db, *base).base;
  const auto table = session.samples(snapshot);
  const auto before = base ? session.samples(*base) : nullptr;
  delete_chunks(db, "sample_chunk", snapshot, kChunksPerSnapshot);
  const EncodedSamples samples = encode_best(before.get(), *table);
  write_samples(db, snapshot, samples);
  Statement(db, "UPDATE snapshot SET base = ?, distance = ? WHERE id = ?")
      .run_with(samples.is_delta ? base : std::nullopt, samples.is_delta ? stored_as(db, *base).distance + 1 : 0,
                snapshot);
}

/// A comparison of what is gone is no longer one.
void forget_comparison_with(sqlite3* db, const std::set<std::int64_t>& removed) {
  bool mentioned = false;
  {
    Statement select(db, "SELECT snapshots FROM comparison");
    if (!select.step()) return;
    for (const SnapshotId id : parse_ids(select.text(0)))
      mentioned = mentioned || removed.contains(static_cast<std::int64_t>(id));
  }
  if (mentioned) execute(db, "DELETE FROM comparison");
}

}  // namespace

std::vector<std::int64_t> dependents(sqlite3* db, const char* select_sql, const std::set<std::int64_t>& removed) {
  std::vector<std::int64_t> found;
  Statement select(db, select_sql);
  while (select.step()) {
    if (removed.contains(select.integer(1)) && !removed.contains(select.integer(0))) found.push_back(select.integer(0));
  }
  return found;
}

void remove_snapshots(Session& session, std::span<const SnapshotId> ids) {
  sqlite3* db = session.db();
  std::set<std::int64_t> removed;
  for (const SnapshotId id : ids) {
    stored_as(db, static_cast<std::int64_t>(id));
    removed.insert(static_cast<std::int64_t>(id));
  }
  const std::vector<std::int64_t> left =
      dependents(db, "SELECT id, base FROM snapshot WHERE base IS NOT NULL ORDER BY id", removed);
  for (const std::int64_t id : left) rewrite_samples(session, id, removed);
  remove_allocators(session, std::vector<std::int64_t>(removed.begin(), removed.end()));

  Statement delete_totals(db, "DELETE FROM snapshot_total WHERE snapshot = ?");
  Statement delete_details(db, "DELETE FROM snapshot_detail WHERE snapshot = ?");
  Statement delete_snapshot(db, "DELETE FROM snapshot WHERE id = ?");
  for (const std::int64_t id : removed) {
    delete_chunks(db, "sample_chunk", id, kChunksPerSnapshot);
    delete_totals.run_with(id);
    delete_details.run_with(id);
    delete_snapshot.run_with(id);
  }
  forget_comparison_with(db, removed);
  collect_garbage(session);
  session.drop();
}

}  // namespace snapdiff::store
