#pragma once

#include <cstdint>

#include "snapdiff/importer.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::formats::hprof {

/// Reads a whole heap dump. Throws DecodeError.
/// Errors: malformed, unsupported (versions, several dumps in one file), limit.
Snapshot read_hprof(Input& in);

}  // namespace snapdiff::formats::hprof
