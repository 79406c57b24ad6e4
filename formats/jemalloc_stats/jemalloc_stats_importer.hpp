#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// What jemalloc's malloc_stats_print writes, JSON or text: a snapshot for each dump.
extern const Format kJemallocStats;

}  // namespace snapdiff::formats
