#pragma once

#include <cstdint>

#include "analyzer/base/snapshot_builder.hpp"
#include "formats/hprof/classes.hpp"
#include "formats/hprof/heap_dump.hpp"
#include "formats/hprof/name_table.hpp"

namespace snapdiff::formats::hprof {

/// Turns addresses into rows and gives everything its name; `heap` is used up as it goes, so that
/// the graph takes its place in memory. Adds the columns and rows of `builder`. Throws Failure.
void finish_heap(RawHeap& heap, ClassTable& classes, NameTable& names, std::uint32_t id_bytes,
                 SnapshotBuilder& builder);

}  // namespace snapdiff::formats::hprof
