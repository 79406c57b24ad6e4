#pragma once

#include <string>

#include "analyzer/store/sqlite.hpp"

namespace snapdiff::store {

/// Writes all rows as ordinary tables into a new file (README.md, "Plain export"). `db` has the
/// virtual tables; failures in reading it are about `store_path`. Throws io when the file exists or
/// cannot be written; no file is left then.
void write_plain_store(sqlite3* db, const std::string& store_path, const std::string& path);

}  // namespace snapdiff::store
