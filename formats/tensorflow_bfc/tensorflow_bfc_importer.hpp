#pragma once

#include <memory>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats {

/// What TensorFlow's BFC allocator logs when it runs out of memory: a snapshot for each dump.
std::unique_ptr<Importer> make_tensorflow_bfc_importer();

}  // namespace snapdiff::formats
