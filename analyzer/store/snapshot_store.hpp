#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/store/session.hpp"
#include "analyzer/store/store.hpp"

/// Snapshots into the store and out of it.
namespace snapdiff::store {

/// Inside a write transaction; when that is rolled back, the session must be dropped.
std::int64_t add_snapshot(Session& session, const Snapshot& snapshot, std::string_view series,
                          std::string_view source_bytes);

/// A snapshot's rows as chunks.
struct EncodedSamples {
  std::vector<std::string> chunks;
  bool is_delta = false;  ///< they are changes
};
/// As changes against `before` where that is given and smaller, else whole.
EncodedSamples encode_best(const SampleTable* before, const SampleTable& after);
void write_samples(sqlite3* db, std::int64_t snapshot, const EncodedSamples& samples);

std::vector<Snapshot> load_addresses(Session& session);
/// `stored`: takes the ids of the dictionary's stacks, from 1 on; no other thread is used then, since a statement of
/// the same connection may be running.
std::vector<Snapshot> load_snapshots(Session& session, std::span<const SnapshotId> ids, Parts parts,
                                     std::vector<std::uint32_t>* stored = nullptr);

}  // namespace snapdiff::store
