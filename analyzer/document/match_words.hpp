#pragma once

#include <string_view>

#include "snapdiff/growth.hpp"

namespace snapdiff::document {

/// Whether rows are types of objects, of histograms and heap dumps: one frame each, without a file or an address.
bool lists_types(const GrowthReport& report);

/// tier_words() for these rows: types have no function, file and line.
std::string_view match_words(const GrowthReport& report, MatchTier tier);

}  // namespace snapdiff::document
