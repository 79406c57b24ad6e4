#pragma once

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::hprof {

/// Reads all heap dumps of a file, in their order; of several, one that is damaged takes the others with it.
/// Throws ReadFailure. Errors: malformed, unsupported (versions), limit; those of the sink are given back.
Status read_hprof(Input& in, SnapshotSink& out);

}  // namespace snapdiff::formats::hprof
