#pragma once

#include <memory>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats {

/// Reports of the memleak tools of bcc (Python and libbpf): a snapshot for each heading.
std::unique_ptr<Importer> make_bcc_memleak_importer();

}  // namespace snapdiff::formats
