#pragma once

#include <vector>

#include "analyzer/story/growth_paths.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::story {

/// The functions whose memory was allocated and freed again within the series, heaviest first, at most three: their
/// peak is at least a twentieth of the largest total above both their ends.
std::vector<Passing> find_passing(const GrowthReport& report, const GrowthPaths& paths);

}  // namespace snapdiff::story
