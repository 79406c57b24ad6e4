#pragma once

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::torch_cuda {

/// The dictionary of a snapshot as JSON text, read as it streams by.
Result<Snapshot> read_json(Input& in);

}  // namespace snapdiff::formats::torch_cuda
