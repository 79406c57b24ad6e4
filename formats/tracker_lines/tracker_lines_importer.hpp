#pragma once

#include <memory>

#include "snapdiff/importer.hpp"

/// The door of formats/tracker_lines: snapdiff's own JSON Lines format, which any home-made tracker writes.
namespace snapdiff::formats {

std::unique_ptr<Importer> make_tracker_lines_importer();

}  // namespace snapdiff::formats
