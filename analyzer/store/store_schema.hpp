#pragma once

#include <sqlite3ext.h>

#include <cstdint>

namespace snapdiff::store {

/// "snpd": what file(1) shows, and how a store is distinguished from other SQLite files.
inline constexpr std::int64_t kApplicationId = 0x736e7064;

/// PRAGMA user_version. Raised with every change of the tables or of a chunk's layout, together
/// with a step in store_schema.cpp that brings older stores forward.
///   1  first
///   2  the views snapshot_info and series_total
///   3  snapshot.complete, snapshot_detail.half_unit; allocator states and traces
///   4  what a block is for, in allocator_chunk
inline constexpr std::int64_t kSchemaVersion = 4;

/// older: everything can be read as it is: version 2 adds views, version 3 columns with a default and
/// tables, which readers look for by has_version_3(), version 4 parts of chunks that say whether they are there. The
/// first write brings it forward.
enum class SchemaState : std::uint8_t { empty, older, current };

/// Throws unsupported when the file is another program's or its tables are not ours, incompatible
/// when the schema is newer.
SchemaState schema_state(sqlite3* db);

/// Whether the columns and tables of version 3 are there.
bool has_version_3(sqlite3* db);

/// Creates or migrates; call inside a transaction.
void bring_schema_forward(sqlite3* db);

/// The steps from one version to a later one.
void make_schema(sqlite3* db, std::int64_t from, std::int64_t to);

/// The tables alone, without rows and marks: what `export_plain` starts from.
const char* dictionary_tables();

}  // namespace snapdiff::store
