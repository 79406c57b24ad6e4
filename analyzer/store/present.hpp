#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/store/sqlite.hpp"
#include "snapdiff/keyed_hash.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::store {

/// Which snapshots of some sources a series has already.
class Present {
 public:
  /// `sources`: their SHA-256; "" has no snapshots.
  Present(sqlite3* db, const std::set<std::string_view>& sources, std::string_view series);

  /// The snapshot that the same path, bytes and position were imported as, or 0.
  std::int64_t find(const SnapshotFacts& facts) const;
  void add(const SnapshotFacts& facts, std::int64_t id);

 private:
  std::unordered_map<std::string, std::int64_t, KeyedHash> ids_;
};

}  // namespace snapdiff::store
