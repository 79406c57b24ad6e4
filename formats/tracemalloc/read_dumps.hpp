#pragma once

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::tracemalloc {

/// One dump, or several one behind the other.
Status read_dumps(Input& in, SnapshotSink& out);

}  // namespace snapdiff::formats::tracemalloc
