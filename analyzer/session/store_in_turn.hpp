#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyzer/store/store.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::session {

/// Stores snapshots at the ends of their series, in this order; those that are small and stand together in one
/// transaction: to find out what the store has already takes a look at each snapshot of the series. Errors: the
/// store's.
Result<std::vector<store::Imported>> store_in_turn(
    store::Store& store, const std::vector<std::pair<const Snapshot*, std::string>>& snapshots);

}  // namespace snapdiff::session
