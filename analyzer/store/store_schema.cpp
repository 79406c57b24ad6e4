#include "analyzer/store/store_schema.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/store/sqlite.hpp"

namespace snapdiff::store {
namespace {

constexpr const char* kDictionaryTables = R"sql(
CREATE TABLE string(
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL);
CREATE TABLE module(
  id INTEGER PRIMARY KEY,
  name INTEGER NOT NULL,      -- string
  build_id INTEGER NOT NULL); -- string
CREATE TABLE function(
  id INTEGER PRIMARY KEY,
  name INTEGER NOT NULL,        -- string, as people read it
  system_name INTEGER NOT NULL, -- string, the linker's
  file INTEGER NOT NULL,        -- string
  start_line INTEGER NOT NULL);
CREATE TABLE frame(
  id INTEGER PRIMARY KEY,
  module INTEGER NOT NULL,
  "offset" INTEGER,             -- in the module's file; NULL: none; from 2^63 on negative
  function INTEGER NOT NULL,
  line INTEGER NOT NULL,
  "column" INTEGER NOT NULL,
  flags INTEGER NOT NULL,       -- 1 inlined, 2 pseudo, 4 inlined where an address was named later
  hash BLOB NOT NULL);          -- 16 bytes, as imported
CREATE TABLE label(
  label_set INTEGER NOT NULL,
  position INTEGER NOT NULL,
  key INTEGER NOT NULL,         -- string
  text INTEGER NOT NULL,        -- string
  number INTEGER,               -- NULL: a label with text
  unit INTEGER NOT NULL,        -- string
  PRIMARY KEY(label_set, position)) WITHOUT ROWID;
)sql";

constexpr const char* kStoreTables = R"sql(
INSERT INTO string VALUES(0, '');
INSERT INTO module VALUES(0, 0, 0);
INSERT INTO function VALUES(0, 0, 0, 0, 0);
CREATE TABLE stack_chunk(
  first_id INTEGER PRIMARY KEY, -- id of the first stack; the others follow
  stacks INTEGER NOT NULL,
  data BLOB NOT NULL);
CREATE TABLE series(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL);
CREATE TABLE source(
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  original BLOB);
CREATE INDEX source_of_hash ON source(substr(sha256, 1, 16));
CREATE TABLE memory_map(
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL,
  data BLOB NOT NULL);
CREATE TABLE snapshot(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  series INTEGER NOT NULL,
  source INTEGER,
  source_name TEXT NOT NULL,
  file_time_ns INTEGER,
  position INTEGER NOT NULL,
  taken_at_ns INTEGER,
  sequence INTEGER,
  pid INTEGER,
  format TEXT NOT NULL,
  format_detail TEXT NOT NULL,
  producer TEXT NOT NULL,
  duration_ns INTEGER,
  host TEXT NOT NULL,
  rank INTEGER,
  command_line TEXT NOT NULL,
  default_metric TEXT NOT NULL,
  sampling TEXT NOT NULL,
  period INTEGER NOT NULL,
  partial INTEGER NOT NULL,
  is_delta INTEGER NOT NULL,
  is_diff INTEGER NOT NULL,
  drop_frames TEXT NOT NULL,
  keep_frames TEXT NOT NULL,
  doc_url TEXT NOT NULL,
  row_count INTEGER NOT NULL,
  memory_map INTEGER,
  base INTEGER,                 -- snapshot that its chunks are changes against; NULL: a key
  distance INTEGER NOT NULL,    -- steps to the key
  complete INTEGER NOT NULL DEFAULT 1); -- 0: rows that are not there are unknown, not 0
CREATE INDEX snapshot_of_series ON snapshot(series);
CREATE INDEX snapshot_of_source ON snapshot(source);
CREATE TABLE snapshot_total(
  snapshot INTEGER NOT NULL,
  position INTEGER NOT NULL,
  metric TEXT NOT NULL,
  unit TEXT NOT NULL,
  total INTEGER NOT NULL,
  half_unit INTEGER NOT NULL,
  PRIMARY KEY(snapshot, position)) WITHOUT ROWID;
CREATE TABLE snapshot_detail(
  snapshot INTEGER NOT NULL,
  kind TEXT NOT NULL,           -- label, counter, comment, note
  position INTEGER NOT NULL,
  name TEXT NOT NULL,           -- label key, counter name, severity of a note
  text TEXT NOT NULL,           -- label value, counter unit, comment, note
  number INTEGER,               -- counter value, count of a note
  extra INTEGER,                -- 1: cumulative counter; first offset of a note
  half_unit INTEGER NOT NULL DEFAULT 0, -- of a counter
  PRIMARY KEY(snapshot, kind, position)) WITHOUT ROWID;
CREATE TABLE sample_chunk(
  id INTEGER PRIMARY KEY,       -- snapshot * 1048576 + number of the chunk
  data BLOB NOT NULL);
CREATE TABLE comparison(
  id INTEGER PRIMARY KEY CHECK(id = 1),
  snapshots TEXT NOT NULL,      -- ids with commas between
  options TEXT NOT NULL);
CREATE VIEW frame_text AS
  SELECT frame.id AS id, fn.text AS function, file.text AS file, frame.line AS line, mn.text AS module,
         build.text AS build_id, frame."offset" AS "offset", frame.flags & 1 AS inlined, frame.flags >> 1 & 1 AS pseudo
  FROM frame
  JOIN function ON function.id = frame.function
  JOIN string fn ON fn.id = function.name
  JOIN string file ON file.id = function.file
  JOIN module ON module.id = frame.module
  JOIN string mn ON mn.id = module.name
  JOIN string build ON build.id = module.build_id;
CREATE VIEW series_total AS
  SELECT series.name AS series, snapshot.id AS snapshot, snapshot_total.metric AS metric, snapshot_total.unit AS unit,
         snapshot_total.total AS total,
         snapshot_total.total - lag(snapshot_total.total)
           OVER (PARTITION BY snapshot.series, snapshot_total.metric ORDER BY snapshot.id) AS step
  FROM snapshot_total JOIN snapshot ON snapshot.id = snapshot_total.snapshot
  JOIN series ON series.id = snapshot.series;
CREATE TABLE allocator(
  snapshot INTEGER PRIMARY KEY,
  has_segments INTEGER NOT NULL,
  segments INTEGER NOT NULL,    -- how many
  blocks INTEGER NOT NULL,      -- how many
  base INTEGER,                 -- snapshot that its chunks are changes against; NULL: a key
  distance INTEGER NOT NULL,    -- steps to the key
  stacks BLOB NOT NULL,         -- ids of all stacks that it and the traces name
  facts BLOB NOT NULL);         -- streams, pools, settings, annotations
CREATE TABLE allocator_chunk(
  id INTEGER PRIMARY KEY,       -- snapshot * 1048576 + number: segments, then blocks
  data BLOB NOT NULL);
CREATE TABLE trace(
  id INTEGER PRIMARY KEY,
  snapshot INTEGER NOT NULL,
  device INTEGER NOT NULL,
  host INTEGER NOT NULL,        -- 1: of pinned memory of the host
  events INTEGER NOT NULL);     -- how many
CREATE INDEX trace_of_snapshot ON trace(snapshot);
CREATE TABLE trace_chunk(
  id INTEGER PRIMARY KEY,       -- trace * 1048576 + number
  data BLOB NOT NULL);
CREATE VIEW snapshot_info AS
  SELECT snapshot.id AS snapshot, series.name AS series, snapshot.source_name AS source, snapshot.position AS position,
         strftime('%Y-%m-%dT%H:%M:%SZ', snapshot.taken_at_ns / 1000000000, 'unixepoch') AS taken_at,
         snapshot.pid AS pid, snapshot.host AS host, snapshot.rank AS rank, snapshot.format AS format,
         snapshot.producer AS producer, snapshot.sampling AS sampling, snapshot.period AS period,
         snapshot.partial AS partial, snapshot.complete AS complete, snapshot.row_count AS rows
  FROM snapshot JOIN series ON series.id = snapshot.series;
)sql";

struct Object {
  std::string type;
  std::string table;
  std::string sql;
  bool has_pages = false;
  bool operator==(const Object&) const = default;
};

/// By name. A name is there once, whatever its letters' case, or SQLite would not open the file.
using Objects = std::map<std::string, Object, std::less<>>;

/// Without comments, blanks and quotes of names, which SQLite itself changes when it adds a column.
std::string plain(std::string_view sql) {
  std::string out;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    if (sql.substr(i, 2) == "--") {
      i = std::min(sql.find('\n', i), sql.size());
      continue;
    }
    const char c = sql[i];
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != '"') out += c;
  }
  return out;
}

template <class Visit>
void each_object(sqlite3* db, Visit visit) {
  Statement rows(db, "SELECT name, type, tbl_name, coalesce(sql, ''), coalesce(rootpage, 0) FROM main.sqlite_schema");
  while (rows.step()) {
    visit(rows.text(0),
          Object{std::string(rows.text(1)), std::string(rows.text(2)), plain(rows.text(3)), rows.integer(4) > 0});
  }
}

/// The objects of a store's schema, made by the steps that make a store.
const Objects& expected() {
  static const Objects objects = [] {
    Objects made;
    const Database empty(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    make_schema(empty.handle());
    each_object(empty.handle(), [&](std::string_view name, Object object) { made.emplace(name, std::move(object)); });
    return made;
  }();
  return objects;
}

[[noreturn]] void refuse(std::string_view what, std::string_view name) {
  constexpr std::size_t kShown = 60;
  fail(ErrorCode::unsupported, "not a store of ours: found " + std::string(what) + " '" +
                                   std::string(name.substr(0, kShown)) + "', expected the tables that snapdiff makes");
}

/// Whether everything that is under a name of ours is ours, to the text, and nothing hangs on it that runs by itself: a
/// store comes from anywhere. Other tables and views may be there. Throws unsupported, naming the first object that is
/// not as it must be: a missing table, a view in the place of a table, a trigger, a foreign index on a table of ours, a
/// virtual table.
void check_schema(sqlite3* db) {
  const Objects& ours = expected();
  std::size_t seen = 0;
  each_object(db, [&](std::string_view name, const Object& object) {
    if (const auto known = ours.find(name); known != ours.end()) {
      if (object != known->second) refuse("another " + object.type, name);
      ++seen;
    } else if (object.type == "trigger") {
      refuse("the trigger", name);
    } else if (object.type == "index" && ours.find(object.table) != ours.end()) {
      refuse("the index", name);
    } else if (object.type == "table" && !object.has_pages) {
      refuse("the virtual table", name);
    }
  });
  if (seen == ours.size()) return;
  for (const auto& [name, object] : ours) {
    Statement find(db, "SELECT 1 FROM main.sqlite_schema WHERE name = ?1");
    if (!find.bind_text(1, name).step()) refuse("no " + object.type, name);
  }
  refuse("a repeated name", ours.begin()->first);
}

}  // namespace

const char* dictionary_tables() { return kDictionaryTables; }

SchemaState schema_state(sqlite3* db) {
  const std::int64_t application = query_integer(db, "PRAGMA application_id");
  const std::int64_t version = query_integer(db, "PRAGMA user_version");
  if (application == kApplicationId) {
    if (version != kSchemaVersion)
      fail(ErrorCode::incompatible,
           "store version " + std::to_string(version) + ", expected " + std::to_string(kSchemaVersion));
    check_schema(db);
    return SchemaState::current;
  }
  if (application == 0 && version == 0 && query_integer(db, "SELECT count(*) FROM sqlite_schema") == 0)
    return SchemaState::empty;
  fail(ErrorCode::unsupported, "not a store: found a SQLite file with application id " + std::to_string(application) +
                                   ", expected " + std::to_string(kApplicationId));
}

void make_schema(sqlite3* db) {
  execute(db, kDictionaryTables);
  execute(db, kStoreTables);
  execute(db, ("PRAGMA application_id=" + std::to_string(kApplicationId)).c_str());
  execute(db, ("PRAGMA user_version=" + std::to_string(kSchemaVersion)).c_str());
}

void make_schema_if_empty(sqlite3* db) {
  if (schema_state(db) == SchemaState::empty) make_schema(db);
}

}  // namespace snapdiff::store
