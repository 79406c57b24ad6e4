#pragma once

#include <string_view>

#include "snapdiff/growth.hpp"

namespace snapdiff::document {

/// Whether rows are types of objects, of histograms and heap dumps: one frame each, without a file or an address.
bool lists_types(const GrowthReport& report);
bool lists_types(const TopReport& report);

/// The title of rows that are not grouped, in tables for people: "stack (leaf first)" or "type".
template <class Report>
std::string_view row_title(const Report& report) {
  return lists_types(report) ? "type" : "stack (leaf first)";
}

/// tier_words() for these rows: types have no function, file and line.
std::string_view match_words(const GrowthReport& report, MatchTier tier);

}  // namespace snapdiff::document
