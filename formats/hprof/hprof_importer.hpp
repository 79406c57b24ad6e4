#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Heap dumps of Java and Android virtual machines (hprof).
extern const Format kHprof;

}  // namespace snapdiff::formats
