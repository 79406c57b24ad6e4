#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Folded stacks, "main;handle;alloc 4096": async-profiler, FlameGraph's scripts, austin -m, `snapdiff export
/// --folded`.
extern const Format kFoldedStacks;

}  // namespace snapdiff::formats
