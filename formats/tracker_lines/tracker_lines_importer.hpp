#pragma once

#include "formats/input/format.hpp"

/// The public header of formats/tracker_lines: snapdiff's own JSON Lines format, which any home-made tracker writes.
namespace snapdiff::formats {

extern const Format kTrackerLines;

}  // namespace snapdiff::formats
