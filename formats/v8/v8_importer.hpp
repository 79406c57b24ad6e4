#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// V8 heap snapshots (.heapsnapshot, .heaptimeline) of Node, Chrome and Deno.
extern const Format kV8;
/// Sampling heap profiles (.heapprofile) of Node and DevTools.
extern const Format kV8HeapProfile;

}  // namespace snapdiff::formats
