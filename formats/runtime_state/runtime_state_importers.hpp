#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// erlang:memory() as a program prints it: counters.
extern const Format kErlangMemory;
/// A crash dump of Erlang: memory by process and ETS table.
extern const Format kErlangCrashDump;
/// A diagnostic report of Node.js: memory by space of V8's heap.
extern const Format kNodeReport;
/// GHC's heap profile (.hp): bytes by cost centre, closure or type, a series.
extern const Format kGhcHeap;

}  // namespace snapdiff::formats
