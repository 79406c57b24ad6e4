#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "analyzer/store/store.hpp"
#include "analyzer/store/virtual_table.hpp"
#include "unit/analyzer/store/made_allocator.hpp"
#include "unit/analyzer/store/small_snapshots.hpp"

// Answers over the virtual tables, whatever SQLite pushes down, are those over ordinary tables with the same rows.

using namespace snapdiff;
using namespace snapdiff::store;

namespace {

/// The rows of a query, sorted where it does not say how, or the error.
std::vector<std::string> rows_of(Store& store, const std::string& sql) {
  std::vector<std::string> rows;
  Store::SqlSink sink;
  sink.on_row = [&](std::span<const QueryCell> row) {
    std::string& text = rows.emplace_back();
    for (const QueryCell& cell : row) text += cell.text.value_or("NULL") + "|";
  };
  const Status done = store.sql(sql, sink);
  if (!done) rows.push_back("error: " + done.error().message);
  if (sql.find("ORDER BY") == std::string::npos) std::sort(rows.begin(), rows.end());
  return rows;
}

/// A column that is pushed down, and values to compare it with: some are there and some are not.
struct Key {
  std::string column;
  std::vector<std::string> values;
};

struct Table {
  std::string name;
  std::vector<std::string> calls;  ///< conditions that stand for its arguments; none: it needs none
  std::vector<Key> keys;
  std::string columns;
  std::string all;  ///< FROM clause that gives every row once
};

const std::vector<std::string> kSnapshots = {"1", "2", "3", "4", "5", "6", "7", "8"};
const std::vector<std::string> kStacks = {"0", "1", "2", "3", "5", "9", "14", "20", "33", "50"};
const std::vector<std::string> kMetrics = {"'metric0'", "'metric1'", "'inuse_space'", "'none'"};
const std::vector<std::string> kSegments = {"0", "1", "2", "4", "5", "9"};

std::vector<std::string> pairs_of_snapshots() {
  std::vector<std::string> calls;
  for (const std::string from : {"1", "2", "3", "4"}) {
    for (const std::string to : {"1", "2", "3", "4"})
      calls.push_back(std::string("\"from\" = ").append(from).append(" AND \"to\" = ").append(to));
  }
  return calls;
}

std::vector<Table> tables() {
  const std::string series = "(SELECT 'w' AS name, 'metric0' AS m UNION SELECT 'w', 'metric1' UNION SELECT 'a', ";
  return {
      {"stack", {}, {{"id", kStacks}}, "id, depth, text, hash", "stack v"},
      {"stack_frame", {}, {{"stack", kStacks}}, "stack, position, frame", "stack_frame v"},
      {"sample",
       {},
       {{"snapshot", kSnapshots}, {"stack", kStacks}, {"metric", kMetrics}},
       "snapshot, stack, labels, metric, value, label_set",
       "sample v"},
      {"segment",
       {},
       {{"snapshot", kSnapshots}, {"segment", kSegments}},
       "snapshot, segment, address, size, stack",
       "segment v"},
      {"block",
       {},
       {{"snapshot", kSnapshots}, {"segment", kSegments}},
       "snapshot, segment, address, size, state",
       "block v"},
      {"trace_event",
       {},
       {{"snapshot", kSnapshots}, {"event", {"0", "1", "5", "6", "20", "41", "60"}}},
       "snapshot, device, event, action, size, time_us",
       "trace_event v"},
      {"growth",
       pairs_of_snapshots(),
       {{"metric", kMetrics}, {"stack", kStacks}},
       "stack, metric, baseline, current, growth, class, \"from\", \"to\"",
       "snapshot a JOIN snapshot b JOIN growth(a.id, b.id) v"},
      {"trend",
       {"series = 'w' AND wanted = 'metric0'", "series = 'w' AND wanted = 'metric1'",
        "series = 'a' AND wanted = 'inuse_space'"},
       {{"stack", kStacks}},
       "stack, verdict, first, last, growth, snapshots, metric, series, wanted",
       series + "'inuse_space') t JOIN trend(t.name, t.m) v"},
      {"retained",
       {"snapshot = 1 AND wanted = 'metric0'", "snapshot = 1 AND wanted = 'metric1'",
        "snapshot = 2 AND wanted = 'metric0'", "snapshot = 5 AND wanted = 'inuse_space'"},
       {{"flat", {"0", "100", "512"}}},
       "name, flat, cum, retained, dominator, metric, snapshot, wanted",
       "(SELECT snapshot AS s, metric AS m FROM snapshot_total) t JOIN retained(t.s, t.m) v"},
  };
}

/// Snapshots 1 to 4 in series "w" with everything that rows may hold; 5 to 7 in "a" with allocator states.
Store filled_store() {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  for (unsigned seed = 1; seed <= 4; ++seed) REQUIRE(store->add(test::wild(seed, 14, 3), "w"));
  for (unsigned seed = 5; seed <= 7; ++seed)
    REQUIRE(store->add(test::with_allocator(test::numbered("a", seed), 5, {6, 4, 60, 9}, 30, seed), "a"));
  for (const Table& table : tables()) {
    const std::string copy =
        "CREATE TEMP TABLE plain_" + table.name + " AS SELECT " + table.columns + " FROM " + table.all;
    CHECK(rows_of(*store, copy) == std::vector<std::string>{});
  }
  return std::move(store).value();
}

/// Conditions that SQLite can push down, at random.
class Conditions {
 public:
  explicit Conditions(const Table& table, unsigned seed) : table_(table), random_(seed) {}

  std::string any() {
    std::string text;
    for (std::size_t halves = 2 + below(2); halves > 0; --halves) text += "(" + one() + (halves > 1 ? ") OR " : ")");
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  const std::string& one_of(const std::vector<std::string>& texts) { return texts[below(texts.size())]; }

  std::string one() {
    std::string text = table_.calls.empty() ? "" : one_of(table_.calls);
    const std::size_t first = below(table_.keys.size());
    for (std::size_t k = 0; k < table_.keys.size(); ++k) {
      if (k != first && below(2) == 0) continue;
      text += (text.empty() ? "" : " AND ") + compared(table_.keys[k]);
    }
    return text;
  }

  std::string compared(const Key& key) {
    const std::string& value = one_of(key.values);
    const std::string& other = one_of(key.values);
    switch (below(6)) {
      case 0: return key.column + " IN (" + value + ", " + other + ", NULL)";
      case 1: return key.column + " > " + value;
      case 2: return key.column + " <= " + value;
      case 3: return key.column + " BETWEEN " + value + " AND " + other;
      default: return key.column + " = " + value;
    }
  }

  const Table& table_;
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("store sql: an OR gives every row once") {
  Store store = filled_store();
  std::size_t found = 0;
  for (const Table& table : tables()) {
    CAPTURE(table.name);
    CHECK(rows_of(store, "SELECT count(*) - count(DISTINCT v.rowid) FROM " + table.all) ==
          std::vector<std::string>{"0|"});
    CHECK(rows_of(store, "SELECT count(*) > 10 FROM plain_" + table.name) == std::vector<std::string>{"1|"});
    Conditions conditions(table, 7);
    std::vector<std::string> wrong;
    for (int round = 0; round < 60; ++round) {
      const std::string condition = conditions.any();
      const auto select = [&](const std::string& name) {
        return rows_of(store, "SELECT " + table.columns + " FROM " + name + " WHERE " + condition);
      };
      const auto expected = select("plain_" + table.name);
      if (!expected.empty()) ++found;
      if (select(table.name) != expected) wrong.push_back(condition);
    }
    CHECK(wrong == std::vector<std::string>{});
  }
  CHECK(found > 300);
}

TEST_CASE("store sql: what does not fit in a rowid is an error") {
  const std::uint64_t rows = std::uint64_t{1} << 36;
  const std::int64_t parts = std::int64_t{1} << 28;
  CHECK(rowid_of(0, 0) == 0);
  CHECK(rowid_of(2, 5) == std::int64_t{137438953477});  // 2 * 2^36 + 5
  CHECK(rowid_of(parts - 1, rows - 1) == -1);
  CHECK(rowid_of<32>(0x80000000, 0) == std::numeric_limits<std::int64_t>::min());
  CHECK_THROWS_AS(rowid_of(0, rows), Failure);
  CHECK_THROWS_AS(rowid_of(parts, 0), Failure);
  CHECK_THROWS_AS(rowid_of(-1, 0), Failure);
}

TEST_CASE("store sql: joins, lists and sets of rows answer as over ordinary tables") {
  Store store = filled_store();
  const std::string shape = GENERATE(
      as<std::string>(), "SELECT count(*) FROM @sample WHERE snapshot IN (1, 2, 5) AND stack IN (1, 3, 5)",
      "SELECT DISTINCT stack FROM @sample WHERE (snapshot = 1 AND stack < 5) OR (snapshot = 2 AND stack > 3)",
      "SELECT snapshot, stack FROM @sample WHERE snapshot = 1 UNION SELECT snapshot, stack FROM @sample WHERE stack = "
      "3",
      "SELECT snapshot FROM @sample WHERE (snapshot = 4 AND stack < 9) OR (snapshot = 1 AND stack > 3) ORDER BY "
      "snapshot",
      "SELECT snapshot, sum(value) FROM @sample WHERE stack = 2 OR (stack = 3 AND snapshot = 2) GROUP BY snapshot",
      "SELECT stack, value FROM @sample WHERE metric = 'METRIC1' COLLATE NOCASE AND snapshot = 1",
      "SELECT t.id, s.metric, s.value FROM @stack t LEFT JOIN @sample s ON s.stack = t.id AND s.snapshot = 1",
      "SELECT t.id, s.value FROM @sample s RIGHT JOIN @stack t ON s.stack = t.id AND s.snapshot = 2",
      "SELECT t.id, s.value FROM @stack t RIGHT JOIN @sample s ON s.stack = t.id + 20",
      "SELECT t.id, f.frame FROM @stack t FULL JOIN @stack_frame f ON f.stack = t.id + 7",
      "SELECT a.value, b.value FROM @sample a JOIN @sample b ON (b.snapshot = 2 AND b.stack = a.stack) OR "
      "(b.snapshot = 3 AND b.stack = a.stack + 1) WHERE a.snapshot = 1",
      "SELECT s.segment, b.address FROM @segment s JOIN @block b ON (b.snapshot = s.snapshot AND b.segment = s.segment)"
      " OR (b.snapshot = s.snapshot AND b.segment = s.segment + 1)",
      "SELECT s.segment, b.address FROM @block b RIGHT JOIN @segment s ON b.snapshot = s.snapshot AND b.segment = "
      "s.segment + 4",
      "SELECT snapshot, device, event FROM @trace_event WHERE event IN (1, 2, 50) AND snapshot IN (5, 7)",
      "SELECT s.id, g.stack, g.growth FROM snapshot s LEFT JOIN @growth g ON g.\"from\" = 1 AND g.\"to\" = s.id",
      "SELECT stack, growth FROM @growth WHERE \"from\" IN (1, 2) AND \"to\" IN (3, 2)",
      "SELECT stack, metric FROM @growth WHERE \"from\" = 1 AND \"to\" = 2 AND metric = 'METRIC0' COLLATE NOCASE",
      "SELECT stack FROM @trend WHERE series = 'w' AND wanted IN ('metric0', 'metric1')",
      "SELECT id FROM @stack t WHERE EXISTS (SELECT 1 FROM @sample s WHERE (s.stack = t.id AND s.snapshot = 1) OR "
      "(s.stack = t.id AND s.snapshot = 5))",
      "SELECT id FROM @stack t WHERE id NOT IN (SELECT stack FROM @sample WHERE snapshot = 1 OR snapshot = 5)");
  CAPTURE(shape);
  const auto over = [&](const std::string& prefix) {
    std::string sql = shape;
    for (std::size_t at = sql.find('@'); at != std::string::npos; at = sql.find('@')) sql.replace(at, 1, prefix);
    return rows_of(store, sql);
  };
  const auto expected = over("plain_");
  CHECK(!expected.empty());
  CHECK(over("") == expected);
}
