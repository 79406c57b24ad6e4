#pragma once

#include <sqlite3ext.h>

#include <cstdint>

namespace snapdiff::store {

/// Whether everything that is under a name of ours is ours, to the text, as version `version` made it, and nothing
/// hangs on it that runs by itself: a store comes from anywhere. Other tables and views may be there.
/// Throws unsupported, naming the first object that is not as it must be: a missing table, a view in the place of a
/// table, a trigger, a foreign index on a table of ours, a virtual table.
void check_schema(sqlite3* db, std::int64_t version);

}  // namespace snapdiff::store
