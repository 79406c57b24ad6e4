#pragma once

#include <memory>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats {

/// V8 heap snapshots (.heapsnapshot, .heaptimeline) of Node, Chrome and Deno.
std::unique_ptr<Importer> make_v8_importer();

}  // namespace snapdiff::formats
