#include "analyzer/store/plain_export.hpp"

#include <filesystem>

#include "analyzer/base/concat.hpp"
#include "analyzer/store/snapshot_facts.hpp"
#include "analyzer/store/store_schema.hpp"

namespace snapdiff::store {
namespace {

constexpr const char* kPlainTables = R"sql(
CREATE TABLE stack(id INTEGER PRIMARY KEY, depth INTEGER NOT NULL, leaf_function TEXT, text TEXT NOT NULL);
CREATE TABLE stack_frame(stack INTEGER NOT NULL, position INTEGER NOT NULL, frame INTEGER NOT NULL,
                         PRIMARY KEY(stack, position)) WITHOUT ROWID;
CREATE TABLE series(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE snapshot(
  id INTEGER PRIMARY KEY, series INTEGER NOT NULL, sha256 TEXT, size_bytes INTEGER, source_name TEXT NOT NULL,
  file_time_ns INTEGER, position INTEGER NOT NULL, taken_at_ns INTEGER, sequence INTEGER, pid INTEGER,
  format TEXT NOT NULL, format_detail TEXT NOT NULL, producer TEXT NOT NULL, duration_ns INTEGER, host TEXT NOT NULL,
  rank INTEGER, command_line TEXT NOT NULL, default_metric TEXT NOT NULL, sampling TEXT NOT NULL,
  period INTEGER NOT NULL, partial INTEGER NOT NULL, is_delta INTEGER NOT NULL, is_diff INTEGER NOT NULL,
  drop_frames TEXT NOT NULL, keep_frames TEXT NOT NULL, doc_url TEXT NOT NULL, row_count INTEGER NOT NULL,
  complete INTEGER NOT NULL);
CREATE TABLE snapshot_total(snapshot INTEGER NOT NULL, position INTEGER NOT NULL, metric TEXT NOT NULL,
                            unit TEXT NOT NULL, total INTEGER NOT NULL, half_unit INTEGER NOT NULL);
CREATE TABLE snapshot_detail(snapshot INTEGER NOT NULL, kind TEXT NOT NULL, position INTEGER NOT NULL,
                             name TEXT NOT NULL, text TEXT NOT NULL, number INTEGER, extra INTEGER,
                             half_unit INTEGER NOT NULL);
CREATE TABLE sample(snapshot INTEGER NOT NULL, stack INTEGER NOT NULL, label_set INTEGER NOT NULL,
                    metric TEXT NOT NULL, value INTEGER);
CREATE TABLE mapping(snapshot INTEGER NOT NULL, "start" INTEGER NOT NULL, "limit" INTEGER NOT NULL,
                     "offset" INTEGER NOT NULL, module INTEGER NOT NULL);
CREATE TABLE segment(snapshot INTEGER NOT NULL, segment INTEGER NOT NULL, device INTEGER, address INTEGER NOT NULL,
                     size INTEGER NOT NULL, allocated INTEGER, active INTEGER, requested INTEGER,
                     stream INTEGER NOT NULL, pool TEXT NOT NULL, small INTEGER NOT NULL, expandable INTEGER NOT NULL,
                     blocks INTEGER NOT NULL, stack INTEGER, PRIMARY KEY(snapshot, segment));
CREATE TABLE block(snapshot INTEGER NOT NULL, segment INTEGER NOT NULL, address INTEGER NOT NULL, size INTEGER NOT NULL,
                   requested INTEGER NOT NULL, state TEXT NOT NULL, stack INTEGER);
CREATE TABLE trace_event(snapshot INTEGER NOT NULL, device INTEGER, event INTEGER NOT NULL, action TEXT NOT NULL,
                         address INTEGER, size INTEGER NOT NULL, device_free INTEGER, stream INTEGER NOT NULL,
                         pool TEXT NOT NULL, stack INTEGER, time_us INTEGER);
)sql";

struct Copy {
  const char* table;
  const char* select;
};

constexpr Copy kCopies[] = {
    {"string", "SELECT id, text FROM string"},
    {"module", "SELECT id, name, build_id FROM module"},
    {"function", "SELECT id, name, system_name, file, start_line FROM function"},
    {"frame", "SELECT id, module, \"offset\", function, line, \"column\", flags, hash FROM frame"},
    {"label", "SELECT label_set, position, key, text, number, unit FROM label"},
    {"stack", "SELECT id, depth, leaf_function, text FROM stack"},
    {"stack_frame", "SELECT stack, position, frame FROM stack_frame"},
    {"series", "SELECT id, name FROM series"},
    {"snapshot",
     "SELECT snapshot.id, series, sha256, size_bytes, source_name, file_time_ns, position, taken_at_ns, sequence, pid,"
     " format, format_detail, producer, duration_ns, host, rank, command_line, default_metric, sampling, period,"
     " partial, is_delta, is_diff, drop_frames, keep_frames, doc_url, row_count, complete"
     " FROM snapshot LEFT JOIN source ON source.id = snapshot.source ORDER BY snapshot.id"},
    {"snapshot_total", "SELECT snapshot, position, metric, unit, total, half_unit FROM snapshot_total"},
    {"snapshot_detail", "SELECT snapshot, kind, position, name, text, number, extra, half_unit FROM snapshot_detail"},
    {"sample", "SELECT snapshot, stack, label_set, metric, value FROM sample"},
    {"segment", "SELECT * FROM segment"},
    {"block", "SELECT * FROM block"},
    {"trace_event", "SELECT * FROM trace_event"},
};

class Copier {
 public:
  Copier(sqlite3* from, const std::string& from_path, sqlite3* to) : from_(from), from_path_(from_path), to_(to) {}

  void rows(const Copy& copy) {
    Statement select(from_, copy.select);
    std::string places = "?";
    for (int c = 1; c < select.columns(); ++c) places += ",?";
    Statement insert(to_, concat("INSERT INTO ", copy.table, " VALUES(", places, ")"));
    while (concerning(from_path_, [&] { return select.step(); })) {
      insert.bind_row(select);
      insert.run();
    }
  }

  void mappings() {
    Statement select(from_, "SELECT snapshot.id, data FROM snapshot JOIN memory_map ON memory_map.id = memory_map");
    Statement insert(to_, "INSERT INTO mapping VALUES(?,?,?,?,?)");
    while (concerning(from_path_, [&] { return select.step(); })) {
      const std::int64_t snapshot = select.integer(0);
      for (const Mapping& mapping : concerning(from_path_, [&] { return decode_mappings(select.blob(1)); })) {
        insert.run_with(snapshot, mapping.start, mapping.limit, mapping.offset, index_of(mapping.module));
      }
    }
  }

 private:
  sqlite3* from_;
  const std::string& from_path_;
  sqlite3* to_;
};

}  // namespace

void write_plain_store(sqlite3* db, const std::string& store_path, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) throw Failure{Error{ErrorCode::io, "file exists already", {}, path}};
  try {
    concerning(path, [&] {
      const Database out(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
      // A file that is only ever whole or deleted needs no journal.
      execute(out.handle(), "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
      Transaction transaction(out.handle(), Transaction::Kind::write);
      execute(out.handle(), dictionary_tables());
      execute(out.handle(), kPlainTables);
      Copier copier(db, store_path, out.handle());
      for (const Copy& copy : kCopies) copier.rows(copy);
      copier.mappings();
      execute(out.handle(),
              "CREATE INDEX sample_of_snapshot ON sample(snapshot, stack);"
              "CREATE INDEX block_of_segment ON block(snapshot, segment);"
              "CREATE INDEX event_of_trace ON trace_event(snapshot, device, event)");
      transaction.commit();
    });
  } catch (...) {
    std::filesystem::remove(path, ignored);
    throw;
  }
}

}  // namespace snapdiff::store
