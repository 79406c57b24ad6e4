#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// What mimalloc's mi_stats_print and mi_stats_get_json write: a snapshot for each dump.
extern const Format kMimallocStats;

}  // namespace snapdiff::formats
