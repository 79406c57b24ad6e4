#include "analyzer/base/importer.hpp"

#include <utility>

namespace snapdiff {

Status SnapshotList::take(Snapshot snapshot) {
  snapshots.push_back(std::move(snapshot));
  return ok();
}

}  // namespace snapdiff
