#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "analyzer/store/sqlite.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::store {

/// The value columns of a snapshot, without values, and what is recorded about them.
struct StoredColumns {
  std::vector<Column> columns;
  std::vector<std::int64_t> totals;
};
StoredColumns read_columns(sqlite3* db, std::int64_t snapshot);
/// The same of many snapshots, with one statement of this text.
inline constexpr const char* kColumnsOfSnapshot =
    "SELECT metric, unit, half_unit, total FROM snapshot_total WHERE snapshot = ? ORDER BY position";
StoredColumns read_columns(Statement& select, std::int64_t snapshot);

bool same_types(const std::vector<Column>& a, const std::vector<Column>& b);

/// A series is read through at most this many changes down to a key.
inline constexpr std::int64_t kKeyEvery = 16;

/// sample_chunk.id = snapshot * kChunksPerSnapshot + number.
inline constexpr std::int64_t kChunksPerSnapshot = 1048576;

/// The last read or written rows, of two snapshots: `growth` and the next import need the last one and one more.
template <class Table>
class KeptTables {
 public:
  void keep(std::int64_t snapshot, std::shared_ptr<const Table> table) {
    tables_.emplace_front(snapshot, std::move(table));
    if (tables_.size() > 2) tables_.pop_back();
  }
  /// Null where it is not kept.
  std::shared_ptr<const Table> find(std::int64_t snapshot) {
    const auto at =
        std::find_if(tables_.begin(), tables_.end(), [&](const auto& one) { return one.first == snapshot; });
    if (at == tables_.end()) return nullptr;
    tables_.splice(tables_.begin(), tables_, at);
    return tables_.front().second;
  }
  void clear() { tables_.clear(); }

 private:
  std::list<std::pair<std::int64_t, std::shared_ptr<const Table>>> tables_;  // latest first
};

/// Reads the rows of snapshots, with ids of the store, and keeps the last two for those that are changes against them.
class SampleReader {
 public:
  /// `guard` is held while the connection is used; null where no other thread uses it.
  explicit SampleReader(sqlite3* db, std::mutex* guard = nullptr) : db_(db), guard_(guard) {}

  /// Throws usage (no such snapshot), malformed.
  std::shared_ptr<const SampleTable> samples(std::int64_t snapshot);
  /// The same into a table that stays as it is for as long as this reads.
  void read(std::int64_t snapshot, SampleTable& out);
  void keep(std::int64_t snapshot, std::shared_ptr<const SampleTable> table) { kept_.keep(snapshot, std::move(table)); }
  void drop() { kept_.clear(); }

 private:
  struct Stored;
  SampleTable decode(std::int64_t snapshot);
  std::vector<Stored> read_down(std::int64_t snapshot, std::shared_ptr<const SampleTable>& start);

  sqlite3* db_;
  std::mutex* guard_;
  KeptTables<SampleTable> kept_;
};

/// The snapshot with all its rows that this one is a change against, step by step; itself where it has all.
std::int64_t key_snapshot_of(sqlite3* db, std::int64_t snapshot);

}  // namespace snapdiff::store
