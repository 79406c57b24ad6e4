#pragma once

#include <memory>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats {

/// Reads profile.proto (google/pprof, proto/profile.proto), whatever its sample types are.
std::unique_ptr<Importer> make_pprof_importer();

}  // namespace snapdiff::formats
