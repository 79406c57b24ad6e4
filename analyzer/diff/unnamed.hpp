#pragma once

#include "analyzer/diff/side.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::diff {

/// The visible addresses of one side that have no name, and what of the metric is allocated at them.
Unnamed find_unnamed(const Side& side, const Dictionary& dictionary);

}  // namespace snapdiff::diff
