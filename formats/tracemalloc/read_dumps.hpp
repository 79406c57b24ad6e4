#pragma once

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::tracemalloc {

/// One dump, or several one after the other. Throws ReadFailure.
void read_dumps(Input& in, SnapshotSink& out);

}  // namespace snapdiff::formats::tracemalloc
