#pragma once

#include <set>
#include <string_view>

#include "analyzer/diff/rebuild/code.hpp"
#include "analyzer/diff/rebuild/function_map.hpp"
#include "analyzer/diff/rebuild/owners.hpp"

namespace snapdiff::diff::rebuild {

/// Matches what names left open by callers, callees, bytes and similarity of names: mutual best with a margin, in
/// rounds, as what is found helps to find more. `numbered`: names that say nothing. Of each side the heaviest functions
/// alone; time grows with these times the size of their neighbourhoods.
void match_by_structure(const Code& before, const Code& after, const std::set<std::string_view>& numbered,
                        const BothOwners& owners, FunctionMap& map);

}  // namespace snapdiff::diff::rebuild
