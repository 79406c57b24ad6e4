#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Scalene's JSON profile: what each line of Python allocated.
extern const Format kScalene;

}  // namespace snapdiff::formats
