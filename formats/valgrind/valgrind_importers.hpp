#pragma once

#include <memory>

#include "formats/input/moment_importer.hpp"

namespace snapdiff::formats {

/// massif.out files: every snapshot of the file, those without a tree as counters only.
std::unique_ptr<Importer> make_massif_importer();

/// dhat.out files (JSON): what was live at the end; "peak" is the global maximum of bytes.
std::unique_ptr<MomentImporter> make_dhat_importer();

}  // namespace snapdiff::formats
