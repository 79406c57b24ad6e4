#include "analyzer/store/sqlite.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

namespace snapdiff::store {
namespace {

/// SQLite calls a full disk that only where it writes to the store itself.
bool disk_is_full(sqlite3* db) {
  if (db == nullptr) return false;
  const int error = sqlite3_system_errno(db);
  return error == ENOSPC || error == EDQUOT || sqlite3_extended_errcode(db) == SQLITE_IOERR_SHMSIZE;
}

}  // namespace

Error sqlite_error(sqlite3* db, int code) {
  const std::string said = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_FULL: return {ErrorCode::io, "store cannot grow: " + said};
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return {ErrorCode::io, "store is busy: another process is writing to it (" + said + ")"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH: return {ErrorCode::io, "store cannot be written: " + said};
    case SQLITE_IOERR:
      if (disk_is_full(db)) return {ErrorCode::io, "store cannot grow: no space left on the disk"};
      [[fallthrough]];
    case SQLITE_CANTOPEN:
    case SQLITE_PROTOCOL:
    case SQLITE_NOLFS: return {ErrorCode::io, said};
    case SQLITE_CORRUPT: return {ErrorCode::malformed, "store is damaged: " + said};
    case SQLITE_NOTADB:
      return {ErrorCode::unsupported, "not a store: found a file of another kind, expected a SQLite file"};
    case SQLITE_TOOBIG:
    case SQLITE_NOMEM: return {ErrorCode::limit, said};
    case SQLITE_ERROR:
      // A damaged schema page shows up as a table or column that is not there.
      return {ErrorCode::malformed, "store is damaged: " + said};
    // A trigger, a column or a page of a foreign file, never a statement of ours.
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_ABORT:
    case SQLITE_INTERRUPT:
    case SQLITE_SCHEMA: return {ErrorCode::malformed, "store refuses the change: " + said};
    default: return {ErrorCode::internal, said};
  }
}

namespace {

void check(sqlite3* db, int code) {
  if (code != SQLITE_OK) throw Failure{sqlite_error(db, code)};
}

int length_of(std::string_view bytes) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail(ErrorCode::limit, "value of " + std::to_string(bytes.size()) + " bytes, expected at most 2^31-1");
  return static_cast<int>(bytes.size());
}

/// Idle statements of our connections: a store of ten thousand snapshots asks the same few of each
/// snapshot, and to read their text costs more than the answer. A connection of another program has none.
class IdleStatements {
 public:
  void open(sqlite3* db) {
    const std::lock_guard<std::mutex> hold(mutex_);
    of_[db];
  }
  sqlite3_stmt* take(sqlite3* db, std::string_view sql) {
    const std::lock_guard<std::mutex> hold(mutex_);
    const auto idle = of_.find(db);
    if (idle == of_.end()) return nullptr;
    const auto same = [&](sqlite3_stmt* statement) { return sql == sqlite3_sql(statement); };
    const auto found = std::find_if(idle->second.rbegin(), idle->second.rend(), same);
    if (found == idle->second.rend()) return nullptr;
    sqlite3_stmt* const statement = *found;
    idle->second.erase(std::next(found).base());
    return statement;
  }
  /// True: it is kept for the next one of this text.
  bool keep(sqlite3* db, sqlite3_stmt* statement) {
    constexpr std::size_t kMost = 64;  // statements; a command uses fewer texts
    const std::lock_guard<std::mutex> hold(mutex_);
    const auto idle = of_.find(db);
    if (idle == of_.end() || idle->second.size() >= kMost) return false;
    idle->second.push_back(statement);
    return true;
  }
  void close(sqlite3* db) {
    const std::lock_guard<std::mutex> hold(mutex_);
    for (sqlite3_stmt* const statement : of_[db]) sqlite3_finalize(statement);
    of_.erase(db);
  }

 private:
  std::mutex mutex_;
  std::map<sqlite3*, std::vector<sqlite3_stmt*>> of_;
};

IdleStatements& idle_statements() {
  static IdleStatements& all = *new IdleStatements;  // stores may outlive what is static
  return all;
}

}  // namespace

Statement::Statement(sqlite3* db, std::string_view sql) : db_(db), statement_(idle_statements().take(db, sql)) {
  if (statement_ == nullptr) check(db_, sqlite3_prepare_v3(db_, sql.data(), length_of(sql), 0, &statement_, nullptr));
}
Statement::~Statement() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  if (!idle_statements().keep(db_, statement_)) sqlite3_finalize(statement_);
}

Statement& Statement::bind(int index, std::int64_t value) {
  check(db_, sqlite3_bind_int64(statement_, index, value));
  return *this;
}
Statement& Statement::bind(int index, const std::optional<std::int64_t>& value) {
  return value ? bind(index, *value) : bind_null(index);
}
Statement& Statement::bind_text(int index, std::string_view text) {
  const char* data = text.data() != nullptr ? text.data() : "";  // a null pointer would bind NULL
  check(db_, sqlite3_bind_text(statement_, index, data, length_of(text), nullptr));
  return *this;
}
Statement& Statement::bind_blob(int index, std::string_view bytes) {
  const char* data = bytes.data() != nullptr ? bytes.data() : "";
  check(db_, sqlite3_bind_blob(statement_, index, data, length_of(bytes), nullptr));
  return *this;
}
Statement& Statement::bind_null(int index) {
  check(db_, sqlite3_bind_null(statement_, index));
  return *this;
}
Statement& Statement::bind_row(const Statement& row) {
  for (int c = 0; c < row.columns(); ++c)
    check(db_, sqlite3_bind_value(statement_, c + 1, sqlite3_column_value(row.statement_, c)));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  throw Failure{sqlite_error(db_, code)};
}
void Statement::reset() { sqlite3_reset(statement_); }
void Statement::run() {
  step();
  reset();
}

int Statement::columns() const { return sqlite3_column_count(statement_); }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
std::optional<std::int64_t> Statement::optional_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}
std::string_view Statement::text(int column) const {
  const void* data = sqlite3_column_text(statement_, column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}
std::string_view Statement::blob(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}
bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
std::uint32_t Statement::id(int column, std::string_view what) const {
  const std::int64_t value = integer(column);
  if (value < 0 || value >= std::numeric_limits<std::uint32_t>::max())
    fail(ErrorCode::malformed, std::string(what) + " " + std::to_string(value) + ", expected 0 to 2^32-2");
  return static_cast<std::uint32_t>(value);
}

Database::Database(const std::string& path, int flags) {
  const int code = sqlite3_open_v2(path.c_str(), &db_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code == SQLITE_OK) {
    idle_statements().open(db_);
    return;
  }
  const Error error = sqlite_error(db_, code);
  sqlite3_close(db_);
  throw Failure{error};
}
Database::~Database() {
  if (db_ == nullptr) return;
  idle_statements().close(db_);
  sqlite3_close(db_);
}

void execute(sqlite3* db, const char* sql) { check(db, sqlite3_exec(db, sql, nullptr, nullptr, nullptr)); }

std::int64_t query_integer(sqlite3* db, std::string_view sql) {
  Statement statement(db, sql);
  return statement.step() ? statement.integer(0) : 0;
}

void delete_chunks(sqlite3* db, const std::string& table, std::int64_t owner, std::int64_t each) {
  Statement(db, "DELETE FROM " + table + " WHERE id >= ? AND id < ?").run_with(owner * each, (owner + 1) * each);
}

Transaction::Transaction(sqlite3* db, Kind kind) : db_(db) {
  if (sqlite3_get_autocommit(db_) == 0) return;
  execute(db_, kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
  open_ = true;
}
Transaction::~Transaction() {
  // A failed COMMIT or a full disk may have rolled back already.
  if (open_ && sqlite3_get_autocommit(db_) == 0) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
}
void Transaction::commit() {
  if (!open_) return;
  execute(db_, "COMMIT");
  open_ = false;
}

}  // namespace snapdiff::store
