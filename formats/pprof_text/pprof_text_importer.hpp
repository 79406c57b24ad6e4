#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// What `go tool pprof` prints: -top, -tree, -peek, -traces and -raw.
extern const Format kPprofText;

}  // namespace snapdiff::formats
