#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/html/series.hpp"
#include "snapdiff/postmortem.hpp"

namespace snapdiff::html {

/// How many of the heaviest rows come in the report's own order; the page orders the others by size of
/// change, then by name.
inline constexpr std::size_t kRankedRows = 10'000;

/// Figures of rows, in columns. `order`: rows of the report as the page numbers them.
///   ranks     numbers of the report's first kRankedRows rows on the page, in the report's order
///   values    per row: greatest common divisor; then first values and steps in multiples of it
///   ...       objects, errors, verdicts, tiers, known points (README.md, "Data")
/// `importance` is of all rows of the report: reasons of verdicts are kept for those that matter.
std::string coded_values(const Postmortem& report, const std::vector<std::uint64_t>& importance,
                         std::span<const std::uint32_t> order);

}  // namespace snapdiff::html
