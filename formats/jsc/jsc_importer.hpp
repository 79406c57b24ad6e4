#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Heap snapshots of JavaScriptCore: Bun, Safari's Web Inspector.
extern const Format kJsc;

}  // namespace snapdiff::formats
