#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/fleet/row_binary.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/snapshot.hpp"

/// What is true of a snapshot as a whole, as bytes of the column `facts`.
namespace snapdiff::fleet {

/// A column of a snapshot, and where its values are.
///   metric      of its rows
///   is_objects  they are the counts beside that metric's values
struct StoredColumn {
  SampleType type;
  std::int64_t half_unit = 0;
  std::string metric;
  bool is_objects = false;
};

struct StoredMapping {
  std::uint64_t start = 0, limit = 0, offset = 0;
  std::string module, build_id;
};

struct StoredFacts {
  SnapshotFacts facts;
  std::vector<StoredColumn> columns;
  std::vector<StoredMapping> mappings;
};

/// How the columns of a snapshot are stored: counts beside the bytes they belong to, all others alone.
std::vector<StoredColumn> stored_columns(const Snapshot& snapshot);

std::string encode_facts(const Snapshot& snapshot, const std::vector<StoredColumn>& columns);
/// Errors: malformed.
Result<StoredFacts> decode_facts(std::string_view bytes);

}  // namespace snapdiff::fleet
