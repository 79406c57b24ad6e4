#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Recordings of JDK Flight Recorder, written by HotSpot or by async-profiler.
extern const Format kJfr;

}  // namespace snapdiff::formats
