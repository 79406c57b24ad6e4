#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// ObjectSpace.dump_all of Ruby: objects, who holds them, and where they were allocated.
extern const Format kRubyHeap;

}  // namespace snapdiff::formats
