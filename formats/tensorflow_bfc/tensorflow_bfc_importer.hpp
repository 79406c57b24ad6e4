#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// What TensorFlow's BFC allocator logs when it runs out of memory: a snapshot for each dump.
extern const Format kTensorflowBfc;

}  // namespace snapdiff::formats
