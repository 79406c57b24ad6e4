#pragma once

#include <memory>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats {

/// Heap dumps of Java and Android virtual machines (hprof).
std::unique_ptr<Importer> make_hprof_importer();

}  // namespace snapdiff::formats
