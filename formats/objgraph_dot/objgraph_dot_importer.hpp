#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// DOT graphs of objgraph (Python): show_refs(), show_backrefs().
extern const Format kObjgraphDot;

}  // namespace snapdiff::formats
