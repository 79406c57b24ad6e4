#pragma once

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::torch_cuda {

/// Each base64 text of the page's list `local_files` is the pickle of one snapshot.
Status read_html(Input& page, SnapshotSink& out);

}  // namespace snapdiff::formats::torch_cuda
