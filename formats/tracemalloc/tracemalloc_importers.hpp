#pragma once

#include <memory>

#include "snapdiff/importer.hpp"

/// The door of this room.
namespace snapdiff::formats {

/// Snapshot.dump() of Python 3.4 to 3.14: a pickle, read and never executed.
std::unique_ptr<Importer> make_tracemalloc_importer();

/// What programs print of it: str(Statistic), str(StatisticDiff), traceback blocks.
std::unique_ptr<Importer> make_tracemalloc_text_importer();

}  // namespace snapdiff::formats
