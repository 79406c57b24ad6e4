#pragma once

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::tracemalloc {

/// Lists of statistics out of a file or a log, each a snapshot; a list of differences is two.
void read_lists(Input& in, SnapshotSink& out);

}  // namespace snapdiff::formats::tracemalloc
