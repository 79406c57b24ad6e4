#pragma once

#include "formats/input/format.hpp"

/// The public header of the heap_text module: heap dumps that are lines of text. README.md has the layouts.
namespace snapdiff::formats {

/// "gperftools": `heap profile: … @ heapprofile`, `heap_v2/R`, `growth`, … as tcmalloc, old jemalloc and their kin
/// write.
extern const Format kGperftools;
/// "go-text": `heap profile: … @ heap/P`, what Go serves under /debug/pprof/heap?debug=1.
extern const Format kGoText;
/// "go-heapdump": dumps of runtime/debug.WriteHeapDump, in bytes rather than text. Their sampled stacks are those of
/// go-text.
extern const Format kGoHeapDump;
/// "jemalloc": `heap_v2/R` with one block per stack, jemalloc 4.0 and later.
extern const Format kJemalloc;
/// "java-heapz": `--- heapz 1 ---`.
extern const Format kJavaHeapz;
/// "symbolized": `--- symbol`, names for addresses in front of a gperftools, jemalloc or Go dump.
extern const Format kSymbolized;

}  // namespace snapdiff::formats
