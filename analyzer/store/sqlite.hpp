#pragma once

#include <sqlite3ext.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/store/store_failure.hpp"

#ifndef SQLITE_CORE
/// Set by the extension's entry point: every call of SQLite goes through the host's own copy.
extern "C" const sqlite3_api_routines* sqlite3_api;
#endif

/// Owning wrappers round SQLite's C interface. All of them throw Failure.
namespace snapdiff::store {

/// What SQLite's result code means to us: full, read-only, busy and unreadable files are io,
/// damage is malformed, a file other than a database is unsupported.
Error sqlite_error(sqlite3* db, int code);

/// Bytes to bind; a bare std::string_view is a text.
struct Blob {
  std::string_view bytes;
};

/// One prepared statement. Parameters count from 1, columns from 0. Bound texts and blobs must
/// live until the next step() has returned.
class Statement {
 public:
  Statement(sqlite3* db, std::string_view sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, const std::optional<std::int64_t>& value);
  Statement& bind_text(int index, std::string_view text);
  Statement& bind_blob(int index, std::string_view bytes);
  Statement& bind_null(int index);
  /// Binds all columns of another statement's current row.
  Statement& bind_row(const Statement& row);

  /// True when there is a row.
  bool step();
  void reset();
  /// Steps once, expecting no row, and makes ready for the next binding.
  void run();
  /// The same with values for all parameters, in their order: integers, texts, Blob, an empty optional for NULL.
  template <class... Values>
  void run_with(const Values&... values) {
    int index = 0;
    (put(++index, values), ...);
    run();
  }

  int columns() const;  ///< of its rows
  std::int64_t integer(int column) const;
  std::optional<std::int64_t> optional_integer(int column) const;
  std::string_view text(int column) const;  ///< valid until the next step
  std::string_view blob(int column) const;  ///< valid until the next step
  bool is_null(int column) const;
  /// An id that is at least 0 and fits in 32 bits; malformed, naming `what`, otherwise.
  std::uint32_t id(int column, std::string_view what) const;

 private:
  template <std::integral Integer>
  void put(int index, Integer value) {
    bind(index, static_cast<std::int64_t>(value));
  }
  void put(int index, const std::optional<std::int64_t>& value) { bind(index, value); }
  void put(int index, std::string_view text) { bind_text(index, text); }
  void put(int index, Blob blob) { bind_blob(index, blob.bytes); }

  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
};

/// One connection.
class Database {
 public:
  Database() = default;
  Database(const std::string& path, int flags);
  Database(Database&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Database& operator=(Database&& other) noexcept {
    std::swap(db_, other.db_);
    return *this;
  }
  ~Database();
  sqlite3* handle() const { return db_; }
  explicit operator bool() const { return db_ != nullptr; }

 private:
  sqlite3* db_ = nullptr;
};

void execute(sqlite3* db, const char* sql);
/// The first column of the first row, or 0.
std::int64_t query_integer(sqlite3* db, std::string_view sql);

/// Deletes the chunks of `owner` from a table whose ids are owner * `each` + number of the chunk.
void delete_chunks(sqlite3* db, const std::string& table, std::int64_t owner, std::int64_t each);

/// Rolls back unless commit() was called. Nests: inside another transaction it does nothing.
class Transaction {
 public:
  enum class Kind { read, write };
  Transaction(sqlite3* db, Kind kind);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  sqlite3* db_;
  bool open_ = false;
};

}  // namespace snapdiff::store
