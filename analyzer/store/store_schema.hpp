#pragma once

#include <sqlite3ext.h>

#include <cstdint>

namespace snapdiff::store {

/// "snpd": what file(1) shows, and how a store is distinguished from other SQLite files.
inline constexpr std::int64_t kApplicationId = 0x736e7064;

/// PRAGMA user_version. Raised with every change of the tables or of a chunk's layout.
inline constexpr std::int64_t kSchemaVersion = 5;

enum class SchemaState : std::uint8_t { empty, current };

/// Throws unsupported when the file is another program's or its tables are not ours, incompatible
/// when the schema has another version.
SchemaState schema_state(sqlite3* db);

/// Call inside a transaction.
void make_schema(sqlite3* db);
void make_schema_if_empty(sqlite3* db);

/// The tables alone, without rows and marks: what `export_plain` starts from.
const char* dictionary_tables();

}  // namespace snapdiff::store
