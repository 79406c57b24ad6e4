#pragma once

#include <memory>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats {

/// DOT graphs of objgraph (Python): show_refs(), show_backrefs().
std::unique_ptr<Importer> make_objgraph_dot_importer();

}  // namespace snapdiff::formats
