#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// massif.out files: every snapshot of the file, those without a tree as counters only.
extern const Format kMassif;

/// What ms_print prints of them, or parts of it that were pasted.
extern const Format kMsPrint;

/// dhat.out files (JSON): what was live at the end; "peak" is the global maximum of bytes.
extern const Format kDhat;

}  // namespace snapdiff::formats
