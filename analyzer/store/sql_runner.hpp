#pragma once

#include <string_view>

#include "analyzer/store/sqlite.hpp"
#include "analyzer/store/store.hpp"

namespace snapdiff::store {

/// Runs the statements of a script one after the other. Throws usage with SQLite's own message.
void run_sql(sqlite3* db, std::string_view script, const Store::SqlSink& sink, bool may_write);

}  // namespace snapdiff::store
