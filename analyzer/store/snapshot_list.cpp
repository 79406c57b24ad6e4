#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/store/session.hpp"
#include "analyzer/store/snapshot_facts.hpp"

namespace snapdiff::store {
namespace {

/// The order of a series, from its snapshots in the order of their import.
template <class Snapshots, class TimeOf, class SequenceOf>
Order order_of(const Snapshots& snapshots, TimeOf time, SequenceOf sequence) {
  const auto all = [&](auto has) { return std::all_of(snapshots.begin(), snapshots.end(), has); };
  if (all([&](const auto& s) { return time(s).has_value(); })) return Order::time;
  std::set<std::int64_t> numbers;
  const bool distinct =
      all([&](const auto& s) { return sequence(s).has_value() && numbers.insert(*sequence(s)).second; });
  return distinct ? Order::sequence : Order::import;
}

/// Import order decides between equals.
template <class Snapshots, class TimeOf, class SequenceOf>
Order sort_series(Snapshots& snapshots, TimeOf time, SequenceOf sequence) {
  const Order order = order_of(snapshots, time, sequence);
  std::stable_sort(snapshots.begin(), snapshots.end(), [&](const auto& a, const auto& b) {
    if (order == Order::time) return *time(a) < *time(b);
    if (order == Order::sequence) return *sequence(a) < *sequence(b);
    return false;
  });
  return order;
}

struct Ordered {
  std::int64_t id;
  std::optional<std::int64_t> taken_at_ns, sequence;
};

SeriesOrder read_order(sqlite3* db, std::int64_t series, std::string name) {
  std::vector<Ordered> all;
  Statement select(db, "SELECT id, taken_at_ns, sequence FROM snapshot WHERE series = ? ORDER BY id");
  select.bind(1, series);
  while (select.step()) all.push_back({select.integer(0), select.optional_integer(1), select.optional_integer(2)});
  SeriesOrder order{std::move(name), Order::import, {}, {}};
  order.order = sort_series(
      all, [](const Ordered& s) { return s.taken_at_ns; }, [](const Ordered& s) { return s.sequence; });
  for (const Ordered& one : all) {
    order.snapshots.push_back(SnapshotId{one.id});
    order.taken_at_ns.push_back(one.taken_at_ns);
  }
  return order;
}

/// Reads the snapshots of one series after the other.
class InfoReader {
 public:
  explicit InfoReader(sqlite3* db)
      : facts_(db),
        columns_(db, kColumnsOfSnapshot),
        snapshots_(db, "SELECT id, row_count FROM snapshot WHERE series = ? ORDER BY id") {}

  SeriesInfo read(std::int64_t series, std::string name) {
    SeriesInfo out{std::move(name), Order::import, {}};
    snapshots_.bind(1, series);
    while (snapshots_.step()) {
      SnapshotInfo& info = out.snapshots.emplace_back();
      info.id = SnapshotId{snapshots_.integer(0)};
      info.series = out.name;
      info.facts = facts_.read(snapshots_.integer(0));
      info.rows = static_cast<std::uint64_t>(snapshots_.integer(1));
      const StoredColumns columns = read_columns(columns_, snapshots_.integer(0));
      for (std::size_t c = 0; c < columns.columns.size(); ++c)
        info.totals.emplace_back(columns.columns[c].type, columns.totals[c]);
    }
    snapshots_.reset();
    put_in_order(out);
    return out;
  }

 private:
  FactsReader facts_;
  Statement columns_, snapshots_;
};

constexpr const char* kSeriesByNewest =
    "SELECT id, name FROM series WHERE EXISTS(SELECT 1 FROM snapshot WHERE series = series.id)"
    " ORDER BY (SELECT max(id) FROM snapshot WHERE series = series.id)";

}  // namespace

void put_in_order(SeriesInfo& series) {
  series.order = sort_series(
      series.snapshots, [](const SnapshotInfo& s) { return s.facts.taken_at_ns; },
      [](const SnapshotInfo& s) { return s.facts.sequence; });
  std::uint64_t position = 0;
  for (SnapshotInfo& snapshot : series.snapshots) snapshot.series_position = ++position;
}

std::vector<std::string> read_series_names(sqlite3* db) {
  std::vector<std::string> names;
  Statement series(db, kSeriesByNewest);
  while (series.step()) names.emplace_back(series.text(1));
  return names;
}

std::optional<SeriesOrder> read_order_of(sqlite3* db, std::string_view series) {
  Statement find(db, "SELECT id FROM series WHERE name = ?");
  if (!find.bind_text(1, series).step()) return std::nullopt;
  SeriesOrder order = read_order(db, find.integer(0), std::string(series));
  return order.snapshots.empty() ? std::nullopt : std::optional(std::move(order));
}

std::optional<SeriesOrder> read_order_around(sqlite3* db, std::int64_t snapshot) {
  Statement find(
      db, "SELECT series.id, name FROM snapshot JOIN series ON series.id = snapshot.series WHERE snapshot.id = ?");
  if (!find.bind(1, snapshot).step()) return std::nullopt;
  return read_order(db, find.integer(0), std::string(find.text(1)));
}

std::vector<SnapshotId> snapshots_with_label(sqlite3* db, std::string_view key, std::string_view value) {
  std::map<std::int64_t, std::set<std::int64_t>> by_series;
  {
    Statement select(db,
                     "SELECT snapshot.series, snapshot.id FROM snapshot_detail JOIN snapshot ON snapshot.id ="
                     " snapshot_detail.snapshot WHERE kind = 'label' AND name = ? AND text = ?");
    select.bind_text(1, key).bind_text(2, value);
    while (select.step()) by_series[select.integer(0)].insert(select.integer(1));
  }
  std::vector<SnapshotId> ids;
  Statement series(db, kSeriesByNewest);
  while (!by_series.empty() && series.step()) {
    const auto found = by_series.find(series.integer(0));
    if (found == by_series.end()) continue;
    for (const SnapshotId id : read_order(db, found->first, {}).snapshots) {
      if (found->second.contains(static_cast<std::int64_t>(id))) ids.push_back(id);
    }
    by_series.erase(found);
  }
  return ids;
}

std::vector<SeriesInfo> read_series(sqlite3* db, std::span<const std::string> names) {
  constexpr const char* kLost = "SELECT id FROM snapshot WHERE series NOT IN (SELECT id FROM series) LIMIT 1";
  if (const std::int64_t lost = names.empty() ? query_integer(db, kLost) : 0; lost != 0)
    fail(ErrorCode::malformed, "snapshot @" + std::to_string(lost) + " belongs to no series");
  std::vector<SeriesInfo> all;
  InfoReader reader(db);
  Statement series(db, kSeriesByNewest);
  while (series.step()) {
    const bool wanted = names.empty() || std::find(names.begin(), names.end(), series.text(1)) != names.end();
    if (wanted) all.push_back(reader.read(series.integer(0), std::string(series.text(1))));
  }
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
