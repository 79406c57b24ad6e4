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

/// Facts of snapshots one after the other: statements are prepared once.
class FactsReader {
 public:
  explicit FactsReader(sqlite3* db);
  /// Throws usage for an unknown snapshot.
  SnapshotFacts read(std::int64_t snapshot);

 private:
  void read_details(std::int64_t snapshot, SnapshotFacts& facts);
  Statement facts_, details_;
};

/// False where rows that are not there are unknown, not 0.
bool is_complete(sqlite3* db, std::int64_t snapshot);

/// Mappings as a blob with module ids of the store, and back.
std::string encode_mappings(const std::vector<Mapping>& mappings);
std::vector<Mapping> decode_mappings(std::string_view blob);

/// Ids with commas between, as table comparison has them. Throws malformed.
std::string format_ids(const std::vector<SnapshotId>& ids);
std::vector<SnapshotId> parse_ids(std::string_view text);

/// All series with facts, the one that was imported into last at the end; those of these names, or all where none is.
std::vector<SeriesInfo> read_series(sqlite3* db, std::span<const std::string> names = {});
std::optional<SeriesEnd> read_series_end(sqlite3* db, std::string_view name);

/// Names of all series, the one that was imported into last at the end.
std::vector<std::string> read_series_names(sqlite3* db);
/// The order of one series. Reads no facts but what the order needs, and of no other series.
std::optional<SeriesOrder> read_order_of(sqlite3* db, std::string_view series);
std::optional<SeriesOrder> read_order_around(sqlite3* db, std::int64_t snapshot);
/// Series by series, in their order.
std::vector<SnapshotId> snapshots_with_label(sqlite3* db, std::string_view key, std::string_view value);

}  // namespace snapdiff::store
