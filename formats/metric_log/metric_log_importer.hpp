#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Logs whose lines say how much memory is in use.
extern const Format kMetricLog;

}  // namespace snapdiff::formats
