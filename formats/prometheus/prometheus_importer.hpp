#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Metrics of Prometheus: the text that programs expose (/metrics), and answers of its query interface.
extern const Format kPrometheus;

}  // namespace snapdiff::formats
