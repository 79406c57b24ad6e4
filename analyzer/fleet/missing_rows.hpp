#pragma once

#include <string>
#include <vector>

#include "analyzer/fleet/impl.hpp"

namespace snapdiff::fleet {

/// Says which of these snapshots lack rows, and how many rows of them each shard has; `where` selects them in samples.
Error missing_rows(Fleet::Impl& from, const std::vector<const Committed*>& members, const std::string& metric,
                   const std::string& where);

}  // namespace snapdiff::fleet
