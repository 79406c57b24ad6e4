#pragma once

#include <vector>

#include "analyzer/story/growth_paths.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::story {

/// Growth by function, where the rows of largest growth hold less than half of what changed: a table of them would say
/// nothing. Empty otherwise. Most growth first.
std::vector<FunctionGrowth> spread_growth(const GrowthPaths& paths);

}  // namespace snapdiff::story
