#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Totals of glibc's malloc and of tcmalloc: counters.
extern const Format kMallocTotals;
/// CPython's sys._debugmallocstats(): blocks by size class.
extern const Format kPythonMalloc;
/// Rust's stats_alloc.
extern const Format kRustTotals;

}  // namespace snapdiff::formats
