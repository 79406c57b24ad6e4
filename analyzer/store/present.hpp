#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/store/sqlite.hpp"
#include "snapdiff/keyed_hash.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::store {

/// Which snapshots of some sources a series has already: find_present() of many at once.
class Present {
 public:
  /// Those of the sources that `snapshots` come from.
  Present(sqlite3* db, std::span<const Snapshot* const> snapshots, std::string_view series);

  /// The snapshot that the same path, bytes and position were imported as, or 0.
  std::int64_t find(const SnapshotFacts& facts) const;
  void add(const SnapshotFacts& facts, std::int64_t id);

 private:
  std::unordered_map<std::string, std::int64_t, KeyedHash> ids_;
};

}  // namespace snapdiff::store
