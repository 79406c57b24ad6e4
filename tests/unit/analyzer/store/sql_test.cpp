#include <catch2/catch.hpp>
#include <filesystem>
#include <limits>

#include "analyzer/store/store.hpp"
#include "support/same_content.hpp"
#include "unit/analyzer/store/made_series.hpp"
#include "unit/analyzer/store/small_snapshots.hpp"
#include "unit/analyzer/store/temporary_folder.hpp"

using namespace snapdiff;
using namespace snapdiff::store;
using snapdiff::test::small;

namespace {

/// "a|b;c|d": the rows of all statements, or the error.
std::string query(Store& store, std::string_view sql, bool may_write = false) {
  std::string text;
  Store::SqlSink sink;
  sink.on_row = [&](std::span<const QueryCell> row) {
    if (!text.empty()) text += ';';
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) text += '|';
      text += row[c].text.value_or("NULL");
    }
  };
  const Status done = store.sql(sql, sink, may_write);
  if (done) return text;
  CHECK(done.error().code == ErrorCode::usage);
  return "error: " + done.error().message;
}

/// Two snapshots whose growth is known: main;a grew, main;b is gone, main;c is new, main;d is as it was.
Store two_snapshots(const std::string& path = ":memory:") {
  auto store = Store::open(path, Access::create);
  REQUIRE(store);
  REQUIRE(store->add(small("1", {{"main;a", 1, 10}, {"main;b", 2, 20}, {"main;d", 4, 40}}), "s"));
  REQUIRE(store->add(small("2", {{"main;a", 3, 35}, {"main;c", 5, 50}, {"main;d", 4, 40}, {"main;e", 0, 7}}), "s"));
  return std::move(store).value();
}

}  // namespace

TEST_CASE("store sql: stacks as rows") {
  Store store = two_snapshots();
  CHECK(query(store, "SELECT id, depth, leaf_function, text FROM stack ORDER BY id") ==
        "1|2|a|a ‹ main;2|2|b|b ‹ main;3|2|d|d ‹ main;4|2|c|c ‹ main;5|2|e|e ‹ main");
  CHECK(query(store, "SELECT text FROM stack WHERE id = 3") == "d ‹ main");
  CHECK(query(store, "SELECT id FROM stack WHERE id > 2 AND id <= 4") == "3;4");
  CHECK(query(store, "SELECT id FROM stack WHERE id >= 2 AND id < 4 ORDER BY id DESC") == "3;2");
  CHECK(query(store, "SELECT id FROM stack WHERE id IN (5, 1, 99, NULL)") == "1;5");
  for (const char* none : {"id = 0", "id = 6", "id = -1", "id = 2.5", "id = 'x'", "id = NULL", "id = 4294967296",
                           "id > 9223372036854775806", "id < -5", "id > 4 AND id < 3"})
    CHECK(query(store, std::string("SELECT id FROM stack WHERE ") + none) == "");
  CHECK(query(store, "SELECT id FROM stack WHERE id = 2.0 OR id = '3'") == "2;3");
  CHECK(query(store, "SELECT stack_text(2), stack_text(99), stack_text(NULL), stack_text('x')") ==
        "b ‹ main|NULL|NULL|NULL");
  CHECK(query(store, "SELECT length(hash), count(DISTINCT hash) FROM stack") == "16|5");
}

TEST_CASE("store sql: frames of stacks as rows") {
  Store store = two_snapshots();
  CHECK(query(store,
              "SELECT position, function, file, line, module, \"offset\", inlined FROM stack_frame WHERE stack = 2") ==
        "0|b|a.cc|1|NULL|NULL|0;1|main|a.cc|4|NULL|NULL|0");
  CHECK(query(store, "SELECT count(*), count(DISTINCT frame) FROM stack_frame") == "10|6");
  CHECK(query(store, "SELECT f.stack FROM stack_frame f JOIN frame_text t ON t.id = f.frame WHERE t.function = 'c'") ==
        "4");
  CHECK(query(store, "SELECT count(*) FROM stack s JOIN stack_frame f ON f.stack = s.id") == "10");
}

TEST_CASE("store sql: samples as rows") {
  Store store = two_snapshots();
  CHECK(query(store, "SELECT stack, metric, value FROM sample WHERE snapshot = 1") ==
        "1|inuse_objects|1;1|inuse_space|10;2|inuse_objects|2;2|inuse_space|20;3|inuse_objects|4;3|inuse_space|40");
  CHECK(query(store, "SELECT snapshot, value FROM sample WHERE stack = 1 AND metric = 'inuse_space'") == "1|10;2|35");
  CHECK(query(store, "SELECT snapshot, sum(value) FROM sample WHERE metric = 'inuse_space' GROUP BY snapshot") ==
        "1|70;2|132");
  CHECK(query(store, "SELECT count(*) FROM sample WHERE snapshot = 3") == "0");
  CHECK(query(store, "SELECT count(*) FROM sample WHERE metric = 'none'") == "0");
  CHECK(query(store,
              "SELECT t.total - sum(s.value) FROM snapshot_total t JOIN sample s ON s.snapshot = t.snapshot "
              "AND s.metric = t.metric GROUP BY t.snapshot, t.metric") == "0;0;0;0");
}

TEST_CASE("store sql: growth between two snapshots as rows") {
  Store store = two_snapshots();
  CHECK(query(store,
              "SELECT stack_text(stack), baseline, current, growth, class FROM growth(1, 2) WHERE metric = "
              "'inuse_space'") ==
        "a ‹ main|10|35|25|grew;b ‹ main|20|0|-20|gone;d ‹ main|40|40|0|same;c ‹ main|0|50|50|new;e ‹ main|0|7|7|new");
  CHECK(query(store, "SELECT metric, sum(growth) FROM growth(1, 2) GROUP BY metric") ==
        "inuse_objects|5;inuse_space|62");
  CHECK(query(store, "SELECT sum(growth) FROM growth(2, 1) WHERE metric = 'inuse_space'") == "-62");
  CHECK(query(store, "SELECT count(*) FROM growth(1, 1) WHERE growth <> 0") == "0");
  CHECK(query(store,
              "SELECT s.id, sum(g.growth) FROM snapshot s JOIN growth(s.id, s.id + 1) g "
              "WHERE s.id < 2 AND g.metric = 'inuse_space' GROUP BY s.id") == "1|62");
  CHECK(query(store, "SELECT sum(growth) FROM growth WHERE \"from\" = 1 AND \"to\" = 2 AND metric = 'inuse_objects'") ==
        "5");
}

TEST_CASE("store sql: growth needs two snapshots that are there") {
  Store store = two_snapshots();
  CHECK(query(store, "SELECT * FROM growth") == "error: growth(from, to) needs two snapshot ids");
  // SQLite plans the halves of an OR on their own, without the arguments.
  CHECK(query(store, "SELECT count(*) FROM growth(1, 2) WHERE baseline <> 0 OR current <> 0") ==
        query(store, "SELECT count(*) FROM growth(1, 2) WHERE NOT (baseline = 0 AND current = 0)"));
  CHECK(query(store, "SELECT * FROM growth(1)") == "error: growth(from, to) needs two snapshot ids");
  CHECK(query(store, "SELECT * FROM growth(1, 9)") == "error: snapshot @9 is not in the store");
  CHECK(query(store, "SELECT * FROM growth(1, 'x')") == "error: growth(from, to) needs two snapshot ids");
}

TEST_CASE("store sql: growth beyond 64 bits is an error, not a wrong number") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  REQUIRE(store->add(small("1", {{"f", 1, std::numeric_limits<std::int64_t>::min()}}), "s"));
  REQUIRE(store->add(small("2", {{"f", 1, 1}}), "s"));
  CHECK(query(*store, "SELECT baseline, current FROM growth(1, 2) WHERE metric = 'inuse_space'") ==
        "-9223372036854775808|1");
  CHECK(query(*store, "SELECT growth FROM growth(1, 2) WHERE metric = 'inuse_space'") ==
        "error: growth of stack 1 does not fit in 64 bits");
}

TEST_CASE("store sql: labels, unknown values and unsymbolized frames are shown as such") {
  SnapshotBuilder b;
  b.add_column({"size", "bytes"});
  SnapshotBuilder::FrameSpec spec;
  spec.module = b.module("/usr/lib/libx.so", "abcd");
  spec.offset = 0x1f2e;
  const FrameId in_module = b.frame(spec);
  spec.module = {};
  spec.offset = 0xffffffffff600000;
  const FrameId alone = b.frame(spec);
  const FrameId frames[] = {in_module, alone};
  Label text;
  text.key = b.string("thread");
  text.text = b.string("main");
  Label number;
  number.key = b.string("bytes");
  number.number = 48;
  number.unit = b.string("bytes");
  number.is_number = true;
  const std::int64_t value = 9;
  const std::uint8_t unknown = 0;
  b.add_row(b.stack(frames), b.labels({text, number}), std::span(&value, 1));
  b.add_row(b.stack(frames), LabelSetId{}, std::span(&value, 1), std::span(&unknown, 1));
  auto made = b.finish();
  REQUIRE(made);
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  REQUIRE(store->add(*made, "s"));
  CHECK(query(*store, "SELECT labels, value, label_set FROM sample") == "|NULL|0;bytes=48 bytes, thread=main|9|1");
  CHECK(query(*store, "SELECT text, leaf_function FROM stack") == "libx.so+0x1f2e ‹ 0xffffffffff600000|NULL");
  CHECK(query(*store, "SELECT module, \"offset\", function, line FROM stack_frame WHERE position = 0") ==
        "/usr/lib/libx.so|7982|NULL|NULL");
  CHECK(query(*store, "SELECT baseline, current, growth, class FROM growth(1, 1)") == "NULL|NULL|NULL|NULL");
}

TEST_CASE("store sql: a script runs statement by statement") {
  Store store = two_snapshots();
  std::vector<std::string> columns;
  Store::SqlSink sink;
  sink.on_columns = [&](std::span<const std::string> names) {
    columns.push_back({});
    for (const std::string& name : names) columns.back() += name + ",";
  };
  REQUIRE(store.sql(
      "SELECT 1 AS a, 2 AS b; -- words\n ; CREATE TEMP TABLE t(x); INSERT INTO t VALUES(7); SELECT x FROM t", sink));
  CHECK(columns == std::vector<std::string>{"a,b,", "x,"});
  CHECK(query(store, "SELECT 1; SELECT x FROM nowhere; SELECT 2") == "error: no such table: nowhere");
  CHECK(query(store, "SELEC 1") == "error: near \"SELEC\": syntax error");
  CHECK(query(store, "") == "");
  CHECK(query(store, "  -- nothing\n") == "");
}

TEST_CASE("store sql: values are printed without loss") {
  Store store = two_snapshots();
  CHECK(query(store,
              "SELECT -9223372036854775808, 9223372036854775807, 0.1, 1.0, 1e300, 9e999, -9e999, NULL, '', x'00ff1a', "
              "CAST(x'6100ff' AS TEXT)") ==
        std::string("-9223372036854775808|9223372036854775807|0.1|1.0|1e+300|Inf|-Inf|NULL||x'00ff1a'|a") +
            std::string("\0\xff", 2));
}

TEST_CASE("store sql: what would change the store is refused") {
  const test::TemporaryFolder folder;
  Store store = two_snapshots(folder.file("s.db"));
  const std::string statement = GENERATE(
      as<std::string>(), "DELETE FROM snapshot", "INSERT INTO series VALUES(9, 'x')", "UPDATE string SET text = 'x'",
      "DROP TABLE string", "CREATE TABLE t(x)", "CREATE VIEW v AS SELECT 1", "PRAGMA user_version = 9",
      "PRAGMA journal_mode = WAL", "PRAGMA writable_schema = 1", "VACUUM", "BEGIN IMMEDIATE", "SAVEPOINT x", "REINDEX",
      "ATTACH 'other.db' AS o", "ANALYZE", "CREATE TRIGGER t AFTER INSERT ON string BEGIN SELECT 1; END");
  CAPTURE(statement);
  CHECK(query(store, statement) == "error: statement would change the store: expected queries only");
  CHECK(query(store, "UPDATE sqlite_master SET sql = ''").substr(0, 6) == "error:");
  CHECK(query(store, "SELECT count(*) FROM snapshot") == "2");
  CHECK(query(store, "PRAGMA user_version") == "5");
  CHECK(query(store, "PRAGMA table_info(series)") == "0|id|INTEGER|0|NULL|1;1|name|TEXT|1|NULL|0");
}

TEST_CASE("store sql: only functions that compute may be called") {
  const test::TemporaryFolder folder;
  Store store = two_snapshots(folder.file("s.db"));
  for (const std::string call : {"fts3_tokenizer('simple')", "fts3_tokenizer('simple', x'4141414141414141')",
                                 "load_extension('x')", "sqlite_log(1, 'x')", "FTS3_Tokenizer('porter')"}) {
    CAPTURE(call);
    CHECK(query(store, "SELECT " + call).find("error: not authorized to use function") == 0);
    CHECK(query(store, "SELECT 1 FROM snapshot WHERE " + call).find("error: not authorized to use function") == 0);
  }
  CHECK(query(store, "SELECT upper('a') || json_extract('[7]', '$[0]') || Substr('xyz', 2)") == "A7yz");
}

TEST_CASE("store sql: with leave a script may write, and the store notices") {
  Store store = two_snapshots();
  CHECK(query(store, "UPDATE string SET text = 'renamed' WHERE text = 'b'", true) == "");
  CHECK(query(store, "SELECT text FROM stack WHERE id = 2") == "renamed ‹ main");
  CHECK(store.load(std::vector{SnapshotId{1}}));
}

TEST_CASE("store sql: a store that is not there yet has empty tables") {
  const test::TemporaryFolder folder;
  auto store = Store::open(folder.file("s.db"), Access::create);
  REQUIRE(store);
  CHECK(query(*store, "SELECT count(*) FROM sample; SELECT count(*) FROM stack") == "0;0");
  CHECK(query(*store, "SELECT count(*) FROM snapshot", true) == "0");
}

TEST_CASE("store sql: tables are read anew after an import") {
  Store store = two_snapshots();
  CHECK(query(store, "SELECT count(*) FROM stack") == "5");
  REQUIRE(store.add(small("3", {{"quite;new", 1, 1}}), "s"));
  CHECK(query(store, "SELECT count(*) FROM stack; SELECT sum(value) FROM sample WHERE snapshot = 3") == "6;2");
}

TEST_CASE("store sql: a stack that a list of the largest does not name is unknown, not 0") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  for (unsigned i = 1; i <= 3; ++i) {
    Snapshot part = i == 2 ? small("2", {{"main;a", 3, 35}, {"main;c", 5, 50}})
                           : small(i == 1 ? "1" : "3", {{"main;a", 1, 10}, {"main;b", 2, 20}});
    part.facts.complete = i != 2;
    REQUIRE(store->add(part, "s"));
  }
  CHECK(
      query(*store, "SELECT stack, baseline, current, growth, class FROM growth(1, 2) WHERE metric = 'inuse_space'") ==
      "1|10|35|25|grew;2|20|NULL|NULL|NULL;3|0|50|50|new");
  CHECK(query(*store, "SELECT stack, growth FROM growth(2, 1) WHERE metric = 'inuse_objects'") == "1|-2;2|NULL;3|-5");
  CHECK(query(*store, "SELECT stack, growth FROM trend('s')") == "1|0;2|NULL;3|0");
  CHECK(query(*store, "SELECT snapshot, complete FROM snapshot_info") == "1|1;2|0;3|1");
}

TEST_CASE("store sql: a column of roundings is no metric") {
  auto store = Store::open(":memory:", Access::create);
  REQUIRE(store);
  for (const char* name : {"1", "2"}) {
    SnapshotBuilder b;
    b.add_column({half_unit_name("alloc_space"), "bytes"});
    b.add_column({"alloc_space", "bytes"});
    const std::int64_t values[] = {512, name[0] == '1' ? 1024 : 4096};
    b.add_row(test::folded(b, "main;a"), LabelSetId{}, values);
    b.facts().source.name = name;
    b.facts().source.sha256 = name;
    REQUIRE(store->add(std::move(b.finish()).value(), "s"));
  }
  CHECK(query(*store, "SELECT metric, growth FROM growth(1, 2)") == "alloc_space|3072");
  CHECK(query(*store, "SELECT metric, growth FROM trend('s')") == "alloc_space|3072");
  CHECK(query(*store, "SELECT DISTINCT metric FROM retained(1)") == "alloc_space");
  CHECK(query(*store, "SELECT metric, value FROM sample WHERE snapshot = 2") ==
        "alloc_space_half_unit|512;alloc_space|4096");
}

TEST_CASE("store export: plain tables hold the same without us") {
  const test::TemporaryFolder folder;
  Store store = two_snapshots(folder.file("s.db"));
  REQUIRE(store.add(test::wild(8, 200, 3), "wild"));
  const std::string path = folder.file("plain.db");
  const Status exported = store.export_plain(path);
  REQUIRE(exported);

  // Read by SQLite alone: the virtual tables are not in this file, nor in this connection.
  CHECK(query(store,
              "ATTACH '" + path +
                  "' AS plain;"
                  "SELECT count(*) FROM plain.sample;"
                  "SELECT count(*) FROM (SELECT snapshot, stack, label_set, metric, value FROM plain.sample EXCEPT "
                  "SELECT snapshot, stack, label_set, metric, value FROM sample);"
                  "SELECT count(*) FROM (SELECT stack, position, frame FROM stack_frame EXCEPT SELECT * FROM "
                  "plain.stack_frame);"
                  "SELECT count(*) FROM (SELECT id, depth, leaf_function, text FROM stack EXCEPT SELECT * FROM "
                  "plain.stack);"
                  "SELECT count(*) FROM plain.snapshot; SELECT count(*) > 0 FROM plain.mapping;"
                  "SELECT count(*) = (SELECT count(*) FROM main.frame) FROM plain.frame;"
                  "SELECT sum(type = 'table' AND sql LIKE '%VIRTUAL%') FROM plain.sqlite_schema; DETACH plain",
              true)
            .substr(query(store, "SELECT count(*) FROM sample").size()) == ";0;0;0;3;1;1;0");

  SECTION("and an existing file is not overwritten") {
    const Status again = store.export_plain(path);
    REQUIRE_FALSE(again);
    CHECK(again.error().code == ErrorCode::io);
    CHECK(again.error().subject == path);
    CHECK(std::filesystem::exists(path));
  }
  SECTION("and what cannot be written is said") {
    const Status nowhere = store.export_plain(folder.file("no/where.db"));
    REQUIRE_FALSE(nowhere);
    CHECK(nowhere.error().code == ErrorCode::io);
    CHECK(nowhere.error().subject == folder.file("no/where.db"));
  }
}

// The p values are those of the reference implementation that the verdict rule was tried with.
TEST_CASE("store sql: mann_kendall and theil_sen") {
  Store store = two_snapshots();
  const auto over = [&](const std::string& values, const std::string& what) {
    std::string sql = "WITH v(x, y) AS (VALUES ";
    int x = 0;
    for (std::size_t at = 0; at < values.size();) {
      const std::size_t end = std::min(values.find(' ', at), values.size());
      sql += (x > 0 ? ",(" : "(") + std::to_string(x) + "," + values.substr(at, end - at) + ")";
      ++x;
      at = end + 1;
    }
    return query(store, sql + ") SELECT " + what + " FROM (SELECT * FROM v ORDER BY x * 7919 % 101)");
  };
  const std::string p = "printf('%.6f', mann_kendall(x, y))";
  CHECK(over("100 108 116 124 132 140 148 156", p) == "0.000418");
  CHECK(over("100 106 104 111 110 118 117 121", p) == "0.004687");
  CHECK(over("100 103 98 101 99 102 97 101 100 103 98 100", p) == "0.582784");
  CHECK(over("100 101 99 100 140 141 139 140 141 140 139 140", p) == "0.033335");
  CHECK(over("100 130 146 153 157 159 160 160 161 160 160 161", p) == "0.000075");
  CHECK(over("200 191 182 170 161 152 139 131 120 110", p) == "0.999958");
  CHECK(over("7 7 7 7", "mann_kendall(x, y)") == "0.5");
  CHECK(over("1 2", "mann_kendall(x, y)") == "NULL");

  CHECK(over("10 20 30 1000 50", "theil_sen(x, y)") == "10.0");
  CHECK(over("1 4 2", "theil_sen(x, y)") == "0.5");  // slopes -2, 0.5, 3
  CHECK(over("1 4", "theil_sen(x, y)") == "3.0");
  CHECK(over("5", "theil_sen(x, y)") == "NULL");
  CHECK(query(store, "SELECT theil_sen(1, 2), mann_kendall(1, 2) FROM stack") == "NULL|0.5");
  CHECK(query(store, "SELECT theil_sen(NULL, 2), theil_sen(x, 9e999) FROM (SELECT 1 AS x)") == "NULL|NULL");
  CHECK(query(store,
              "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
              "SELECT theil_sen(i, i) FROM n")
            .starts_with("error: too many points"));
}

TEST_CASE("store sql: trend of a series, stack by stack") {
  auto opened = Store::open(":memory:", Access::create);
  REQUIRE(opened);
  Store store = std::move(opened).value();
  for (int i = 1; i <= 9; ++i)
    REQUIRE(store.add(small(std::to_string(i), {{"main;leak", i, 1000 * i}, {"main;cache", 1, 5000}}), "s"));
  CHECK(query(store,
              "SELECT stack_text(stack), verdict, first, last, growth, round(slope), snapshots, metric "
              "FROM trend('s') ORDER BY growth DESC") ==
        "leak ‹ main|GROWING|1000|9000|8000|1000.0|9|inuse_space;cache ‹ main|FLAT|5000|5000|0|0.0|9|inuse_space");
  CHECK(query(store, "SELECT growth FROM trend('s', 'inuse_objects') ORDER BY growth DESC LIMIT 1") == "8");
  CHECK(query(store, "SELECT count(*) FROM trend('none')") == "error: trend(series): no series 'none' in the store");
  CHECK(query(store, "SELECT count(*) FROM trend('s', 'cpu')") ==
        "error: trend(series, metric): no metric 'cpu' in every snapshot of the series");
  CHECK(query(store, "SELECT * FROM trend").starts_with("error: trend(series) needs the name of a series"));
}

TEST_CASE("store sql: fewer than eight snapshots have no verdict") {
  Store store = two_snapshots();
  CHECK(query(store, "SELECT DISTINCT verdict FROM trend('s')") == "NULL");
}
