#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Leak reports of valgrind's memcheck, text or XML: a snapshot for each leak check of each process.
extern const Format kMemcheck;
/// Leak reports of LeakSanitizer and AddressSanitizer: a snapshot for each report.
extern const Format kLeakSanitizer;
/// Leaks as kmemleak, macOS leaks, VLD, Visual C++, gperftools' heap checker and mtrace print them.
extern const Format kLeakListing;
/// Windows' UMDH: a log, or the difference of two, which is two moments.
extern const Format kUmdh;

}  // namespace snapdiff::formats
