#pragma once

#include <optional>
#include <string>

#include "analyzer/report/report.hpp"
#include "snapdiff/growth.hpp"

/// Stacks whose growth nobody knows, below the table of those where it is known.
namespace snapdiff::report {

/// Value at the first and at the last snapshot; nothing where no source tells it.
std::optional<std::int64_t> known_baseline(const ListedOnce& row, const GrowthReport& report);
std::optional<std::int64_t> known_current(const ListedOnce& row, const GrowthReport& report);

/// "2.3 MiB" or "?".
std::string value_or_unknown(const std::optional<std::int64_t>& value, const std::string& unit);
/// "3 stacks listed at one end only, growth unknown".
std::string listed_once_heading(const GrowthReport& report);
/// How many of them are shown: as many as rows of other tables.
std::size_t listed_once_shown(const GrowthReport& report, const Style& style);

/// Heading and table after a blank line; "" where there is no such stack.
std::string listed_once_text(const GrowthReport& report, const Style& style);

}  // namespace snapdiff::report
