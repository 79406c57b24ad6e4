#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyzer/store/session.hpp"
#include "analyzer/store/store.hpp"

/// Snapshots into the store and out of it.
namespace snapdiff::store {

/// The snapshot that the same path, bytes and position were imported as, or 0.
std::int64_t find_present(sqlite3* db, const SnapshotFacts& facts, std::string_view series);

/// Inside a write transaction; when that is rolled back, the session must be dropped.
std::int64_t add_snapshot(Session& session, const Snapshot& snapshot, std::string_view series,
                          std::string_view source_bytes);

/// Writes the rows of `after` as chunks of `snapshot`: changes against `before` where that is
/// given and smaller. True when it was.
bool write_samples(sqlite3* db, std::int64_t snapshot, const SampleTable* before, const SampleTable& after);

std::vector<Snapshot> load_snapshots(Session& session, std::span<const SnapshotId> ids);

}  // namespace snapdiff::store
