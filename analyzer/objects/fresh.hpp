#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/objects/type_names.hpp"
#include "snapdiff/retention.hpp"

namespace snapdiff::objects {

/// Objects that came after the first snapshot and stayed: in the last, and of three or more snapshots
/// in an earlier one than the last too. Distinguished by their ids.
///   known  false where ids do not persist, or do not fit (an object would have changed its type)
///   fresh  per node of the last graph
struct FreshObjects {
  bool known = false;
  std::vector<bool> fresh;
};
FreshObjects find_fresh(const std::vector<SnapshotRef>& snapshots, Notes& notes);

}  // namespace snapdiff::objects
