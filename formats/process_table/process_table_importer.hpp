#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Output of ps, top, pidstat, docker stats, kubectl top, nvidia-smi, free and psrecord: resident bytes by process.
extern const Format kProcessTable;

}  // namespace snapdiff::formats
