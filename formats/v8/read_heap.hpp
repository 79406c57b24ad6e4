#pragma once

#include "snapdiff/importer.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::formats::v8 {

/// Reads a whole V8 heap snapshot. Throws ReadFailure.
/// Errors: malformed, limit.
Snapshot read_heap(Input& in);

}  // namespace snapdiff::formats::v8
