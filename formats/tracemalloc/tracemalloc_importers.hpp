#pragma once

#include "formats/input/format.hpp"

/// The public header of this module.
namespace snapdiff::formats {

/// Snapshot.dump() of Python 3.4 to 3.14: a pickle, read and never executed.
extern const Format kTracemalloc;

/// What programs print of it: str(Statistic), str(StatisticDiff), traceback blocks.
extern const Format kTracemallocText;

}  // namespace snapdiff::formats
