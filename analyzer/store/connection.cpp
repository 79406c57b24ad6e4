#include "analyzer/store/connection.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <span>
#include <thread>

#include "analyzer/base/printable.hpp"
#include "analyzer/store/store_schema.hpp"

namespace snapdiff::store {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyTimeoutMs = 5000;
/// Waiting for the other journal mode: short, since work can continue without it.
constexpr int kModeTimeoutMs = 200;

/// A path as an URI file name, so that "immutable" can be said.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      append_hex(uri += '%', c);
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// Something in the -wal file means that the main file alone is not the whole truth.
bool has_wal(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path + "-wal", error);
  return !error && size > 0;
}

bool is_wal(sqlite3* db) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, "PRAGMA journal_mode", -1, &statement, nullptr) != SQLITE_OK) return false;
  const bool is = sqlite3_step(statement) == SQLITE_ROW &&
                  sqlite3_stricmp(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)), "wal") == 0;
  sqlite3_finalize(statement);
  return is;
}

fs::path folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

void check_folder_is_writable(const std::string& path) {
  const fs::path folder = folder_of(path);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    fail(ErrorCode::io, "store cannot be made: there is no folder " + folder.string());
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) != 0)
    fail(ErrorCode::io, "store cannot be made: folder " + folder.string() + " cannot be written");
}

/// At one moment: another process may be making the store just now.
SchemaState state_now(sqlite3* db) {
  const Transaction transaction(db, Transaction::Kind::read);
  return schema_state(db);
}

/// A store may come from anybody: nothing in it may call functions that do more than compute, change the
/// schema's own rows, or hand SQLite the address of a tokenizer.
void distrust(sqlite3* db) {
  int now = 0;
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, &now);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &now);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, &now);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, &now);
}

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

int open_folder_of(const std::string& path) {
  return ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool write_all(int fd, std::span<const unsigned char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

/// SQLite would take a journal or log with the right name for one of the new file.
bool has_stale_journal(const std::string& path) {
  struct stat found {};
  for (const char* suffix : {"-journal", "-wal"}) {
    if (::lstat((path + suffix).c_str(), &found) == 0 || errno != ENOENT) return true;
  }
  return false;
}

/// Connections to one store, of any process, close one after the other. It is the folder that is locked: a
/// second descriptor of the file itself would give up SQLite's locks when closed. Where the folder cannot
/// be locked within the busy timeout, closing continues without a turn.
class ClosingTurn {
 public:
  explicit ClosingTurn(const std::string& path) : folder_(open_folder_of(path)) {
    if (!folder_) return;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyTimeoutMs);
    while (::flock(folder_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
           std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  Descriptor folder_;
};

bool is_about_locks_or_files(const Error& error) { return error.code == ErrorCode::io; }

}  // namespace

Connection::Connection(std::string path, Access access) : path_(std::move(path)), access_(access) {
  if (path_.empty()) fail(ErrorCode::io, "store has no name: found an empty path");
  in_memory_ = path_ == ":memory:";
  if (in_memory_) {
    open_pending_store();
  } else if (exists(path_)) {
    open_existing();
  } else if (access_ == Access::create) {
    check_folder_is_writable(path_);
    pending_ = true;
  } else {
    fail(ErrorCode::io, "there is no such store");
  }
}

Connection::Connection(std::string path, Draft) : path_(std::move(path)), access_(Access::create), in_memory_(true) {
  open_in_memory("file:draft?vfs=memdb");  // unlike :memory: one run of bytes; no other connection sees the name
}

Connection::~Connection() {
  // Also one that only read: the last writer cannot leave WAL mode while anybody looks on.
  if (session_ != nullptr && !in_memory_ && sqlite3_db_readonly(database_.handle(), "main") == 0) leave_wal();
}

void Connection::open(int flags) {
  session_.reset();
  database_ = Database();
  database_ = Database(path_, flags);
  sqlite3_extended_result_codes(database_.handle(), 1);
  sqlite3_busy_timeout(database_.handle(), kBusyTimeoutMs);
  distrust(database_.handle());
  session_ = std::make_shared<Session>(database_.handle());
}

void Connection::open_existing() {
  std::error_code ignored;
  if (fs::is_directory(path_, ignored))
    fail(ErrorCode::unsupported, "not a store: found a folder, expected a SQLite file");
  // Also to read: a store whose writer was killed is repaired by whoever opens it next.
  open(SQLITE_OPEN_READWRITE);
  SchemaState state = SchemaState::empty;
  try {
    state = state_now(database_.handle());
  } catch (const Failure& failure) {
    // A store left in WAL mode on media that cannot be written; without a log it is complete.
    const bool busy = (sqlite3_errcode(database_.handle()) & 0xff) == SQLITE_BUSY;
    if (!is_about_locks_or_files(failure.error) || busy || access_ != Access::read || has_wal(path_)) throw;
    const std::string plain = std::exchange(path_, immutable_uri(path_));
    try {
      open(SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    } catch (...) {
      path_ = plain;
      throw failure;
    }
    path_ = plain;
    state = state_now(database_.handle());
  }
  if (state == SchemaState::current) return;
  if (access_ == Access::read) {
    open_pending_store();
    return;
  }
  write([](Session&) {});
}

/// An empty store in memory.
void Connection::open_pending_store() { open_in_memory(":memory:"); }

void Connection::open_in_memory(const char* uri) {
  const std::string real = std::exchange(path_, uri);
  open(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI);
  path_ = real;
  Transaction transaction(database_.handle(), Transaction::Kind::write);
  make_schema_if_empty(database_.handle());
  transaction.commit();
}

bool Connection::is_new() const { return pending_ && !exists(path_); }

Session& Connection::reader() {
  if (pending_ && session_ == nullptr) {
    if (exists(path_)) {  // made by somebody else meanwhile
      pending_ = false;
      open_existing();
    } else {
      open_pending_store();
    }
  }
  return *session_;
}

Session& Connection::writer() {
  if (access_ == Access::read) fail(ErrorCode::io, "store cannot be written: it was opened for reading");
  if (pending_) {
    open(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    pending_ = false;
  }
  if (!in_memory_ && !wal_) use_wal();
  return *session_;
}

void Connection::begin_write() {
  make_schema_if_empty(database_.handle());
  session_->refresh();
}

// Readers and one writer do not wait for each other in WAL mode. Where it cannot be had (a reader
// in the other mode holds the file) the rollback journal is as safe.
//
// The change of mode rewrites two bytes of the first page. It needs no sync of its own: whichever of
// the two states a power failure leaves, the content is the same, and the journal of the change is
// gone for good once the new log file's folder entry is synced, before any page can change.
void Connection::use_wal() {
  sqlite3* db = database_.handle();
  if (sqlite3_db_readonly(db, "main") == 1) fail(ErrorCode::io, "store cannot be written: it is read-only");
  state_now(db);  // never touch a file that is not a store
  sqlite3_busy_timeout(db, kModeTimeoutMs);
  execute(db, "PRAGMA synchronous=OFF");
  wal_ = sqlite3_exec(db, "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr) == SQLITE_OK;
  execute(db, wal_ ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=FULL");
  sqlite3_busy_timeout(db, kBusyTimeoutMs);
}

// A WAL store cannot be opened in a folder that is read-only, hence never left behind: the last one to
// close goes back. One that is not the last gets BUSY and closes while it still holds its turn, so the last
// in turn finds no other. The checkpoint syncs everything; what follows is again two bytes.
void Connection::leave_wal() {
  sqlite3* db = database_.handle();
  session_.reset();  // its statements hold the file
  sqlite3_busy_timeout(db, 0);
  if (!wal_ && !is_wal(db)) return;
  const ClosingTurn turn(path_);
  if (sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr) == SQLITE_OK)
    sqlite3_exec(db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
  database_ = Database();
}

bool Connection::publish() {
  sqlite3_int64 size = 0;
  const unsigned char* const image = sqlite3_serialize(database_.handle(), "main", &size, SQLITE_SERIALIZE_NOCOPY);
  if (image == nullptr || size == 0 || has_stale_journal(path_)) return false;
  constexpr mode_t kMode = 0644;  // SQLite's own
  const Descriptor file(::open(folder_of(path_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kMode));
  if (!file || !write_all(file.get(), {image, static_cast<std::size_t>(size)}) || ::fdatasync(file.get()) != 0)
    return false;
  const std::string nameless = "/proc/self/fd/" + std::to_string(file.get());
  if (::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) != 0) return false;
  const Descriptor directory(open_folder_of(path_));
  if (directory) ::fsync(directory.get());  // without it a power failure may undo the whole, no more
  return true;
}

void Connection::shrink() {
  sqlite3* db = database_.handle();
  if (2 * query_integer(db, "PRAGMA freelist_count") <= query_integer(db, "PRAGMA page_count")) return;
  // Nothing depends on it: a full disk keeps the larger file.
  sqlite3_exec(db, "VACUUM", nullptr, nullptr, nullptr);
}

}  // namespace snapdiff::store
