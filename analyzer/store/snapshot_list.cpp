#include <algorithm>
#include <set>

#include "analyzer/store/session.hpp"
#include "analyzer/store/snapshot_facts.hpp"

namespace snapdiff::store {
namespace {

Order order_of(const std::vector<SnapshotInfo>& snapshots) {
  const auto all = [&](auto has) { return std::all_of(snapshots.begin(), snapshots.end(), has); };
  if (all([](const SnapshotInfo& s) { return s.facts.taken_at_ns.has_value(); })) return Order::time;
  std::set<std::int64_t> numbers;
  const bool distinct = all(
      [&](const SnapshotInfo& s) { return s.facts.sequence.has_value() && numbers.insert(*s.facts.sequence).second; });
  return distinct ? Order::sequence : Order::import;
}

}  // namespace

/// Import order decides between equals.
void put_in_order(SeriesInfo& series) {
  series.order = order_of(series.snapshots);
  std::stable_sort(series.snapshots.begin(), series.snapshots.end(), [&](const SnapshotInfo& a, const SnapshotInfo& b) {
    if (series.order == Order::time) return *a.facts.taken_at_ns < *b.facts.taken_at_ns;
    if (series.order == Order::sequence) return *a.facts.sequence < *b.facts.sequence;
    return false;
  });
  std::uint64_t position = 0;
  for (SnapshotInfo& snapshot : series.snapshots) snapshot.series_position = ++position;
}

std::vector<std::int64_t> snapshots_of_series(sqlite3* db, std::string_view name) {
  std::vector<SeriesInfo> all;
  std::int64_t last = -1;
  Statement rows(
      db,
      "SELECT snapshot.series, snapshot.id, taken_at_ns, sequence FROM snapshot JOIN series ON series.id = "
      "snapshot.series JOIN (SELECT series AS owner, max(id) AS newest FROM snapshot GROUP BY series) ON owner = "
      "snapshot.series WHERE series.name = ?1 ORDER BY newest, snapshot.id");
  rows.bind_text(1, name);
  while (rows.step()) {
    if (all.empty() || rows.integer(0) != last) all.emplace_back();
    last = rows.integer(0);
    SnapshotInfo info;
    info.id = SnapshotId{rows.integer(1)};
    info.facts.taken_at_ns = rows.optional_integer(2);
    info.facts.sequence = rows.optional_integer(3);
    all.back().snapshots.push_back(std::move(info));
  }
  std::vector<std::int64_t> ids;
  for (SeriesInfo& series : all) {
    put_in_order(series);
    for (const SnapshotInfo& snapshot : series.snapshots) ids.push_back(static_cast<std::int64_t>(snapshot.id));
  }
  return ids;
}

std::vector<SeriesInfo> read_series(sqlite3* db) {
  std::vector<SeriesInfo> all;
  Statement series(db,
                   "SELECT series.id, series.name FROM series JOIN snapshot ON snapshot.series = series.id "
                   "GROUP BY series.id ORDER BY max(snapshot.id)");
  std::vector<std::int64_t> ids;
  while (series.step()) {
    ids.push_back(series.integer(0));
    all.push_back(SeriesInfo{std::string(series.text(1)), Order::import, {}});
  }
  Statement snapshots(db, "SELECT id, series, row_count FROM snapshot ORDER BY id");
  while (snapshots.step()) {
    const auto at = std::find(ids.begin(), ids.end(), snapshots.integer(1));
    if (at == ids.end())
      fail(ErrorCode::malformed, "snapshot @" + std::to_string(snapshots.integer(0)) + " belongs to no series");
    SeriesInfo& owner = all[static_cast<std::size_t>(at - ids.begin())];
    SnapshotInfo info;
    info.id = SnapshotId{snapshots.integer(0)};
    info.series = owner.name;
    info.facts = read_facts(db, snapshots.integer(0));
    info.rows = static_cast<std::uint64_t>(snapshots.integer(2));
    const StoredColumns columns = read_columns(db, snapshots.integer(0));
    for (std::size_t c = 0; c < columns.columns.size(); ++c)
      info.totals.emplace_back(columns.columns[c].type, columns.totals[c]);
    owner.snapshots.push_back(std::move(info));
  }
  for (SeriesInfo& one : all) put_in_order(one);
  return all;
}

std::optional<SeriesEnd> read_series_end(sqlite3* db, std::string_view name) {
  Statement newest(
      db, "SELECT max(snapshot.id) FROM series JOIN snapshot ON snapshot.series = series.id WHERE series.name = ?");
  if (!newest.bind_text(1, name).step() || newest.integer(0) == 0) return std::nullopt;
  SeriesEnd end{SnapshotId{newest.integer(0)}, {}};
  Statement sources(
      db, "SELECT DISTINCT source_name FROM snapshot WHERE series = (SELECT series FROM snapshot WHERE id = ?)");
  sources.bind(1, newest.integer(0));
  while (sources.step()) end.sources.emplace_back(sources.text(0));
  return end;
}

}  // namespace snapdiff::store
