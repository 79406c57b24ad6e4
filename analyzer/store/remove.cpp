#include <set>

#include "analyzer/base/concat.hpp"
#include "analyzer/store/allocator_store.hpp"
#include "analyzer/store/maintenance.hpp"
#include "analyzer/store/snapshot_facts.hpp"
#include "analyzer/store/snapshot_store.hpp"

namespace snapdiff::store {
namespace {

const ChangesTable kSamples{"snapshot", "id"};

std::optional<std::int64_t> base_of(sqlite3* db, const ChangesTable& table, std::int64_t snapshot) {
  Statement select(db, "SELECT base FROM " + table.name + " WHERE " + table.id + " = ?");
  return select.bind(1, snapshot).step() ? select.optional_integer(0) : std::nullopt;
}

bool rewrite_samples(Session& session, std::int64_t snapshot, std::optional<std::int64_t> base) {
  const auto table = session.samples(snapshot);
  const auto before = base ? session.samples(*base) : nullptr;
  delete_chunks(session.db(), "sample_chunk", snapshot, kChunksPerSnapshot);
  const EncodedSamples samples = encode_best(before.get(), *table);
  write_samples(session.db(), snapshot, samples);
  return samples.is_delta;
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

std::int64_t distance_of(sqlite3* db, const ChangesTable& table, std::int64_t snapshot) {
  Statement select(db, "SELECT distance FROM " + table.name + " WHERE " + table.id + " = ?");
  return select.bind(1, snapshot).step() ? select.integer(0) : 0;
}

void rewrite_dependents(sqlite3* db, const ChangesTable& table, const std::set<std::int64_t>& removed,
                        const std::function<bool(std::int64_t, std::optional<std::int64_t>)>& rewrite) {
  std::vector<std::int64_t> left;
  Statement select(db, concat("SELECT ", table.id, ", base FROM ", table.name, " WHERE base IS NOT NULL ORDER BY 1"));
  while (select.step()) {
    if (removed.contains(select.integer(1)) && !removed.contains(select.integer(0))) left.push_back(select.integer(0));
  }
  Statement update(db, concat("UPDATE ", table.name, " SET base = ?, distance = ? WHERE ", table.id, " = ?"));
  for (const std::int64_t snapshot : left) {
    std::optional<std::int64_t> base = base_of(db, table, snapshot);
    while (base && removed.contains(*base)) base = base_of(db, table, *base);
    const bool is_delta = rewrite(snapshot, base);
    update.run_with(is_delta ? base : std::nullopt, is_delta ? distance_of(db, table, *base) + 1 : 0, snapshot);
  }
}

void remove_snapshots(Session& session, std::span<const SnapshotId> ids) {
  sqlite3* db = session.db();
  std::set<std::int64_t> removed;
  for (const SnapshotId id : ids) {
    const auto number = static_cast<std::int64_t>(id);
    Statement select(db, "SELECT 1 FROM snapshot WHERE id = ?");
    if (!select.bind(1, number).step())
      fail(ErrorCode::usage, "snapshot @" + std::to_string(number) + " is not in the store");
    removed.insert(number);
  }
  rewrite_dependents(db, kSamples, removed, [&](std::int64_t snapshot, std::optional<std::int64_t> base) {
    return rewrite_samples(session, snapshot, base);
  });
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
