#include "analyzer/store/sql_runner.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "analyzer/base/contains.hpp"
#include "analyzer/base/nearest.hpp"
#include "analyzer/base/printable.hpp"

namespace snapdiff::store {
namespace {

std::string real_text(double value) {
  if (std::isinf(value)) return value > 0 ? "Inf" : "-Inf";
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;  // shortest that reads back
  std::string text(buffer.data(), end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string blob_text(std::string_view bytes) {
  std::string text = "x'";
  for (const char byte : bytes) append_hex(text, byte);
  return text + "'";
}

QueryCell value_of(sqlite3_stmt* statement, int column) {
  const auto bytes = [&](const void* data) {
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
    return data == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(data), size);
  };
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL: return {};
    case SQLITE_INTEGER: return {std::to_string(sqlite3_column_int64(statement, column)), true};
    case SQLITE_FLOAT: {
      const double real = sqlite3_column_double(statement, column);
      return {real_text(real), std::isfinite(real)};
    }
    case SQLITE_BLOB: return {blob_text(bytes(sqlite3_column_blob(statement, column)))};
    default: return {std::string(bytes(sqlite3_column_text(statement, column)))};
  }
}

/// Reading pragmas; all others could change the file or the connection.
bool is_reading_pragma(const char* name, const char* argument) {
  constexpr std::array kWithArgument = {"table_info",     "table_xinfo",   "index_list",       "index_info",
                                        "index_xinfo",    "table_list",    "foreign_key_list", "integrity_check",
                                        "quick_check",    "function_list", "module_list",      "pragma_list",
                                        "collation_list", "database_list", "compile_options"};
  constexpr std::array kWithout = {"application_id", "user_version", "schema_version", "page_count",   "page_size",
                                   "freelist_count", "encoding",     "data_version",   "journal_mode", "synchronous",
                                   "cache_size",     "busy_timeout", "query_only"};
  const auto is_name = [name](const char* known) { return sqlite3_stricmp(name, known) == 0; };
  if (std::any_of(kWithArgument.begin(), kWithArgument.end(), is_name)) return true;
  return argument == nullptr && std::any_of(kWithout.begin(), kWithout.end(), is_name);
}

/// Functions that compute from their arguments alone: SQLite's own, as of 3.40, and ours. Not among them:
/// load_extension, fts3_tokenizer, which takes an address, and whatever another version may bring.
constexpr std::string_view kFunctions =
    " -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling changes char coalesce cos cosh "
    "count cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp "
    "first_value floor format glob group_concat hex ifnull iif instr json json_array json_array_length "
    "json_extract json_group_array json_group_object json_insert json_object json_patch json_quote "
    "json_remove json_replace json_set json_type json_valid julianday lag last_insert_rowid last_value "
    "lead length like likelihood likely ln log log10 log2 lower ltrim mann_kendall max min mod nth_value "
    "ntile nullif percent_rank pi pow power printf quote radians random randomblob rank replace round "
    "row_number rtrim sign sin sinh soundex sqlite_compileoption_get sqlite_compileoption_used "
    "sqlite_source_id sqlite_version sqrt stack_text strftime substr substring subtype sum tan tanh "
    "theil_sen time total total_changes trim trunc typeof unicode unixepoch unlikely upper zeroblob ";

bool is_allowed_function(const char* name) {
  if (name == nullptr) return false;
  std::string word = " " + std::string(name) + " ";
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::count(word.begin(), word.end(), ' ') == 2 && contains(kFunctions, word);
}

/// Lets queries through, and whatever stays in the temporary schema.
int allow_reading(void* /*context*/, int action, const char* first, const char* second, const char* schema,
                  const char* /*trigger*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_DROP_TEMP_INDEX:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_VIEW: return SQLITE_OK;
    case SQLITE_UPDATE:
      // Asked whenever a virtual table declares its columns; SQLite itself refuses to write to it.
      if (first != nullptr && std::strcmp(first, "sqlite_master") == 0) return SQLITE_OK;
      [[fallthrough]];
    case SQLITE_INSERT:
    case SQLITE_DELETE: return schema != nullptr && std::strcmp(schema, "temp") == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION: return is_allowed_function(second) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA: return is_reading_pragma(first, second) ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
  }
}

class ReadingOnly {
 public:
  ReadingOnly(sqlite3* db, bool on) : db_(on ? db : nullptr) {
    if (db_ != nullptr) sqlite3_set_authorizer(db_, allow_reading, nullptr);
  }
  ReadingOnly(const ReadingOnly&) = delete;
  ReadingOnly& operator=(const ReadingOnly&) = delete;
  ~ReadingOnly() {
    if (db_ != nullptr) sqlite3_set_authorizer(db_, nullptr, nullptr);
  }

 private:
  sqlite3* db_;
};

/// "; did you mean sample?" where `message` is about a table or a function that there is not.
std::string near_name(sqlite3* db, std::string_view message) {
  constexpr std::array<std::array<const char*, 2>, 2> kKinds = {
      {{"no such table: ",
        "SELECT name FROM pragma_table_list UNION SELECT name FROM pragma_module_list ORDER BY name"},
       {"no such function: ", "SELECT DISTINCT name FROM pragma_function_list ORDER BY name"}}};
  for (const auto& [start, query] : kKinds) {
    if (!message.starts_with(start)) continue;
    const std::string_view wanted = message.substr(std::strlen(start));
    std::vector<std::string> names;
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db, query, -1, &statement, nullptr) != SQLITE_OK) return {};
    while (sqlite3_step(statement) == SQLITE_ROW) {
      const auto* const name = sqlite3_column_text(statement, 0);
      if (name != nullptr) names.emplace_back(static_cast<const char*>(static_cast<const void*>(name)));
    }
    sqlite3_finalize(statement);
    return did_you_mean(wanted, names);
  }
  return {};
}

/// An error in the query is usage; an error of the file or the disk keeps its own code.
[[noreturn]] void fail_sql(sqlite3* db, int code) {
  switch (code & 0xff) {
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
    case SQLITE_TOOBIG:
    case SQLITE_ABORT:
    case SQLITE_INTERRUPT: {
      const std::string said = sqlite3_errmsg(db);
      fail(ErrorCode::usage, said + near_name(db, said));
    }
    case SQLITE_AUTH:
      if (std::string_view(sqlite3_errmsg(db)).find("use function") != std::string_view::npos)
        fail(ErrorCode::usage, sqlite3_errmsg(db));
      fail(ErrorCode::usage, "statement would change the store: expected queries only");
    case SQLITE_CORRUPT: fail(ErrorCode::malformed, sqlite3_errmsg(db));
    default: throw Failure{sqlite_error(db, code)};
  }
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

void run_one(sqlite3* db, sqlite3_stmt* statement, const Store::SqlSink& sink) {
  const int columns = sqlite3_column_count(statement);
  if (columns > 0 && sink.on_columns) {
    std::vector<std::string> names;
    names.reserve(static_cast<std::size_t>(columns));
    for (int c = 0; c < columns; ++c) names.emplace_back(sqlite3_column_name(statement, c));
    sink.on_columns(names);
  }
  std::vector<QueryCell> row(static_cast<std::size_t>(columns));
  for (;;) {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) return;
    if (code != SQLITE_ROW) fail_sql(db, code);
    if (!sink.on_row) continue;
    for (int c = 0; c < columns; ++c) row[static_cast<std::size_t>(c)] = value_of(statement, c);
    sink.on_row(row);
  }
}

}  // namespace

void run_sql(sqlite3* db, std::string_view script, const Store::SqlSink& sink, bool may_write) {
  constexpr std::size_t kMaxScript = 1'000'000'000;
  if (script.size() > kMaxScript) fail(ErrorCode::limit, "script of " + std::to_string(script.size()) + " bytes");
  const ReadingOnly reading_only(db, !may_write);
  const char* at = script.data();
  const char* const end = at + script.size();
  while (at != end) {
    sqlite3_stmt* prepared = nullptr;
    const char* tail = nullptr;
    const int code = sqlite3_prepare_v2(db, at, static_cast<int>(end - at), &prepared, &tail);
    const std::unique_ptr<sqlite3_stmt, Finalize> statement(prepared);
    if (code != SQLITE_OK) fail_sql(db, code);
    if (statement != nullptr) run_one(db, statement.get(), sink);
    if (tail == at) break;  // a NUL byte ends the script
    at = tail;
  }
}

}  // namespace snapdiff::store
