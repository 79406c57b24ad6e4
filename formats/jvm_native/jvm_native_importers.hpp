#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Native Memory Tracking of HotSpot: committed bytes by category and call site.
extern const Format kJvmNativeMemory;
/// jcmd GC.heap_info and VM.metaspace: counters.
extern const Format kJvmMemoryState;
/// jcmd VM.classloader_stats: metaspace by type of class loader.
extern const Format kJvmClassLoaders;

}  // namespace snapdiff::formats
