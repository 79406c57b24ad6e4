#include <memory>

#include "analyzer/store/sql_tables.hpp"
#include "analyzer/store/virtual_table.hpp"

// The extension for other programs: `.load ./libsnapdiff_sqlite` in the sqlite3 shell. SQLite finds
// the entry point by the file's name: "lib" and all that is no letter dropped.
SQLITE_EXTENSION_INIT1

extern "C" __attribute__((visibility("default"))) int sqlite3_snapdiffsqlite_init(sqlite3* db, char** message,
                                                                                  const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api)
  return snapdiff::store::answering(message, [db] {
    snapdiff::store::register_tables(std::make_shared<snapdiff::store::Session>(db));
    return SQLITE_OK;
  });
}
