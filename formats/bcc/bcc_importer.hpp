#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Reports of the memleak tools of bcc (Python and libbpf): a snapshot for each heading.
extern const Format kBccMemleak;

}  // namespace snapdiff::formats
