#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// memray's own recordings. Without a point what was live at the end; README.md has the points.
extern const Format kMemray;

/// `memray transform csv`, `transform gprof2dot`, `transform speedscope` (speedscope files of other writers
/// as well, where they hold bytes), `memray stats --json`.
extern const Format kMemrayCsv;
extern const Format kMemrayGprof2dot;
extern const Format kMemraySpeedscope;
extern const Format kMemrayStats;
/// The page of `memray flamegraph`.
extern const Format kMemrayHtml;

}  // namespace snapdiff::formats
