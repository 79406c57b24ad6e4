#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// /proc/PID/smaps and smaps_rollup: resident bytes by mapping.
extern const Format kProcSmaps;
/// /proc/PID/status, statm, /proc/meminfo, memory.stat of a cgroup: counters.
extern const Format kProcMemory;
/// The kernel's out-of-memory report: resident bytes by task.
extern const Format kKernelOom;
/// dumpsys meminfo PID and showmap of Android: proportional bytes by category or mapping.
extern const Format kAndroidMemory;

}  // namespace snapdiff::formats
