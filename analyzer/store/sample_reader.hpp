#pragma once

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

bool same_types(const std::vector<Column>& a, const std::vector<Column>& b);

/// A series is read through at most this many changes down to a key.
inline constexpr std::int64_t kKeyEvery = 16;

/// sample_chunk.id = snapshot * kChunksPerSnapshot + number.
inline constexpr std::int64_t kChunksPerSnapshot = 1048576;

/// Reads the rows of snapshots, with ids of the store, and keeps the last two for those that are changes against them.
class SampleReader {
 public:
  /// `guard` is held while the connection is used; null where no other thread uses it.
  explicit SampleReader(sqlite3* db, std::mutex* guard = nullptr) : db_(db), guard_(guard) {}

  /// Throws usage (no such snapshot), malformed.
  std::shared_ptr<const SampleTable> samples(std::int64_t snapshot);
  /// The same into a table that stays as it is for as long as this reads.
  void read(std::int64_t snapshot, SampleTable& out);
  void keep(std::int64_t snapshot, std::shared_ptr<const SampleTable> table);
  void drop() { tables_.clear(); }

 private:
  struct Stored;
  std::shared_ptr<const SampleTable> kept(std::int64_t snapshot);
  SampleTable decode(std::int64_t snapshot);
  std::vector<Stored> read_down(std::int64_t snapshot, std::shared_ptr<const SampleTable>& start);

  sqlite3* db_;
  std::mutex* guard_;
  std::list<std::pair<std::int64_t, std::shared_ptr<const SampleTable>>> tables_;  // latest first
};

/// The snapshot with all its rows that this one is a change against, step by step; itself where it has all.
std::int64_t key_snapshot_of(sqlite3* db, std::int64_t snapshot);

}  // namespace snapdiff::store
