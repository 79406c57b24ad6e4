#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Recordings of heaptrack. Without a point what was live at the end; README.md has the points.
extern const Format kHeaptrack;

}  // namespace snapdiff::formats
