#pragma once

#include <memory>

#include "formats/input/moment_importer.hpp"

namespace snapdiff::formats {

/// Recordings of heaptrack. read() gives what was live at the end; read_at() other moments: README.md.
std::unique_ptr<MomentImporter> make_heaptrack_importer();

}  // namespace snapdiff::formats
