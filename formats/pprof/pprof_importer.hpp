#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Reads profile.proto (google/pprof, proto/profile.proto), whatever its sample types are.
extern const Format kPprof;

}  // namespace snapdiff::formats
