#include <algorithm>

#include "analyzer/store/column_chunk.hpp"
#include "analyzer/store/maintenance.hpp"
#include "analyzer/store/present.hpp"
#include "analyzer/store/snapshot_facts.hpp"
#include "analyzer/store/snapshot_store.hpp"

namespace snapdiff::store {
namespace {

/// Loading some at a time shares the work on stacks; this many rows, blocks and events bound the memory.
constexpr std::uint64_t kBatchRows = 2'000'000;
constexpr std::size_t kBatchSnapshots = 64;

/// SQLite's own limit is 1 GB for the compressed bytes.
constexpr std::size_t kMaxSourceBytes = std::size_t{64} << 30;

/// SnapshotInfo::rows counts blocks and events too.
std::vector<SnapshotInfo> in_import_order(sqlite3* db) {
  std::vector<SnapshotInfo> all;
  for (SeriesInfo& series : read_series(db))
    std::move(series.snapshots.begin(), series.snapshots.end(), std::back_inserter(all));
  std::sort(all.begin(), all.end(), [](const SnapshotInfo& a, const SnapshotInfo& b) { return a.id < b.id; });
  Statement more(
      db,
      "SELECT blocks + (SELECT coalesce(sum(events), 0) FROM trace WHERE trace.snapshot = allocator.snapshot)"
      " FROM allocator WHERE snapshot = ?");
  for (SnapshotInfo& snapshot : all) {
    if (more.bind(1, static_cast<std::int64_t>(snapshot.id)).step())
      snapshot.rows += static_cast<std::uint64_t>(std::max<std::int64_t>(0, more.integer(0)));
    more.reset();
  }
  return all;
}

/// The next few that are worth one load.
std::span<const SnapshotInfo> next_batch(std::span<const SnapshotInfo> left) {
  std::uint64_t rows = 0;
  std::size_t count = 0;
  while (count < left.size() && count < kBatchSnapshots && (count == 0 || rows + left[count].rows <= kBatchRows))
    rows += left[count++].rows;
  return left.first(count);
}

std::vector<SnapshotId> ids_of(std::span<const SnapshotInfo> snapshots) {
  std::vector<SnapshotId> ids;
  for (const SnapshotInfo& snapshot : snapshots) ids.push_back(snapshot.id);
  return ids;
}

}  // namespace

std::optional<std::string> read_source(sqlite3* db, std::int64_t snapshot) {
  Statement select(db,
                   "SELECT source.id, original FROM snapshot LEFT JOIN source ON source.id = snapshot.source "
                   "WHERE snapshot.id = ?");
  if (!select.bind(1, snapshot).step())
    fail(ErrorCode::usage, "snapshot @" + std::to_string(snapshot) + " is not in the store");
  if (select.is_null(1)) return std::nullopt;
  std::string bytes;
  naming("source " + std::to_string(select.integer(0)), [&] { bytes = unpack_bytes(select.blob(1), kMaxSourceBytes); });
  return bytes;
}

std::size_t merge_snapshots(Session& from, const std::string& from_path, Session& into) {
  std::vector<SnapshotInfo> fresh = concerning(from_path, [&] { return in_import_order(from.db()); });
  std::erase_if(fresh, [&](const SnapshotInfo& snapshot) {
    return Present(into.db(), {snapshot.facts.source.sha256}, snapshot.series).find(snapshot.facts) != 0;
  });
  for (std::span<const SnapshotInfo> left = fresh; !left.empty();) {
    const auto batch = next_batch(left);
    const std::vector<Snapshot> snapshots =
        concerning(from_path, [&] { return load_snapshots(from, ids_of(batch), Parts::allocator); });
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto original =
          concerning(from_path, [&] { return read_source(from.db(), static_cast<std::int64_t>(batch[i].id)); });
      add_snapshot(into, snapshots[i], batch[i].series, original.value_or(std::string()));
    }
    left = left.subspan(batch.size());
  }
  return fresh.size();
}

void check_store(Session& session) {
  sqlite3* db = session.db();
  {
    Statement integrity(db, "PRAGMA integrity_check");
    if (integrity.step() && integrity.text(0) != "ok")
      fail(ErrorCode::malformed, "integrity check: " + std::string(integrity.text(0)));
  }
  session.drop();  // what is in memory proves nothing about the file
  session.stacks();
  constexpr std::pair<const char*, const char*> kDangling[] = {
      {"FROM sample_chunk WHERE id / 1048576 NOT IN (SELECT id FROM snapshot)", "sample chunks without a snapshot"},
      {"FROM snapshot WHERE source IS NOT NULL AND source NOT IN (SELECT id FROM source)",
       "snapshot without its source"},
      {"FROM snapshot s WHERE s.memory_map IS NOT NULL AND s.memory_map NOT IN (SELECT id FROM memory_map)",
       "snapshot without its memory map"},
      {"FROM snapshot WHERE series NOT IN (SELECT id FROM series)", "snapshot without its series"},
      {"FROM allocator WHERE snapshot NOT IN (SELECT id FROM snapshot)", "allocator state without a snapshot"},
      {"FROM allocator_chunk WHERE id / 1048576 NOT IN (SELECT snapshot FROM allocator)",
       "allocator chunks without an allocator state"},
      {"FROM trace WHERE snapshot NOT IN (SELECT snapshot FROM allocator)", "trace without an allocator state"},
      {"FROM trace_chunk WHERE id / 1048576 NOT IN (SELECT id FROM trace)", "trace chunks without a trace"}};
  for (const auto& [rows, what] : kDangling) {
    if (query_integer(db, std::string("SELECT count(*) ") + rows) != 0) fail(ErrorCode::malformed, what);
  }
  const std::vector<SnapshotInfo> all = in_import_order(db);
  for (std::span<const SnapshotInfo> left = all; !left.empty();) {
    const auto batch = next_batch(left);
    load_snapshots(session, ids_of(batch), Parts::allocator);
    left = left.subspan(batch.size());
  }
}

}  // namespace snapdiff::store
