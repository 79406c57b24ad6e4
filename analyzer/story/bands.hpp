#pragma once

#include <vector>

#include "snapdiff/growth.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::story {

/// The layers of a plot of totals: what was freed, the culprits with the heaviest on top, what was allocated and
/// freed in between. `report` is by stack. A row is in one layer at most.
std::vector<Band> bands_of(const GrowthReport& report, const Story& story);

}  // namespace snapdiff::story
