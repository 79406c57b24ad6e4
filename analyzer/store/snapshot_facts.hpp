#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/store/dictionary_store.hpp"
#include "analyzer/store/store.hpp"

/// Everything about a snapshot that is not a row: table snapshot and its children.
namespace snapdiff::store {

/// How the rows of a snapshot are stored.
struct Placement {
  std::int64_t series = 0;
  std::optional<std::int64_t> source;
  std::optional<std::int64_t> memory_map;
  std::optional<std::int64_t> base;
  std::int64_t distance = 0;
  std::int64_t rows = 0;
};

/// Returns the new snapshot's id.
std::int64_t write_facts(sqlite3* db, const SnapshotFacts& facts, const Placement& placement);
void write_totals(sqlite3* db, std::int64_t snapshot, const std::vector<Column>& columns);

/// Throws usage when there is no such snapshot.
SnapshotFacts read_facts(sqlite3* db, std::int64_t snapshot);

/// False where rows that are not there are unknown, not 0.
bool is_complete(sqlite3* db, std::int64_t snapshot);

/// Mappings as a blob with module ids of the store, and back.
std::string encode_mappings(const std::vector<Mapping>& mappings);
std::vector<Mapping> decode_mappings(std::string_view blob);

/// Ids with commas between, as table comparison has them. Throws malformed.
std::string format_ids(const std::vector<SnapshotId>& ids);
std::vector<SnapshotId> parse_ids(std::string_view text);

/// All series, the newest last.
std::vector<SeriesInfo> read_series(sqlite3* db);
std::optional<SeriesEnd> read_series_end(sqlite3* db, std::string_view name);

/// Ids of the snapshots of the series of this name, in their order; of several series, one after the other. Reads
/// no facts but what the order needs.
std::vector<std::int64_t> snapshots_of_series(sqlite3* db, std::string_view name);

}  // namespace snapdiff::store
