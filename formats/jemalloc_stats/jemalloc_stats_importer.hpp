#pragma once

#include <memory>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats {

/// What jemalloc's malloc_stats_print writes, JSON or text: a snapshot for each dump.
std::unique_ptr<Importer> make_jemalloc_stats_importer();

}  // namespace snapdiff::formats
