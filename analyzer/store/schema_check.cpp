#include "analyzer/store/schema_check.hpp"

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/store/sqlite.hpp"
#include "analyzer/store/store_schema.hpp"

namespace snapdiff::store {
namespace {

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

/// What a store of this version has; made by the very steps that make one.
const Objects& expected(std::int64_t version) {
  static std::mutex mutex;
  static std::array<Objects, static_cast<std::size_t>(kSchemaVersion) + 1> known;
  const std::lock_guard lock(mutex);
  Objects& objects = known[static_cast<std::size_t>(version)];
  if (objects.empty()) {
    Database made(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    make_schema(made.handle(), 0, version);
    each_object(made.handle(), [&](std::string_view name, Object object) { objects.emplace(name, std::move(object)); });
  }
  return objects;
}

[[noreturn]] void refuse(std::string_view what, std::string_view name) {
  constexpr std::size_t kShown = 60;
  fail(ErrorCode::unsupported, "not a store of ours: found " + std::string(what) + " '" +
                                   std::string(name.substr(0, kShown)) + "', expected the tables that snapdiff makes");
}

}  // namespace

void check_schema(sqlite3* db, std::int64_t version) {
  const Objects& ours = expected(version);
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

}  // namespace snapdiff::store
