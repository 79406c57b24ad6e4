#pragma once

#include <optional>
#include <string>

#include "analyzer/report/report.hpp"
#include "snapdiff/growth.hpp"

/// Stacks whose growth nobody knows, below the table of those where it is known.
namespace snapdiff::report {

/// Value at the first and at the last snapshot; nothing where no source records it.
std::optional<std::int64_t> known_baseline(const ListedOnce& row, const GrowthReport& report);
std::optional<std::int64_t> known_current(const ListedOnce& row, const GrowthReport& report);

/// Heading and table after a blank line; "" where there is no such stack.
std::string listed_once_text(const GrowthReport& report, const Style& style);
std::string listed_once_markdown(const GrowthReport& report, const Style& style);

}  // namespace snapdiff::report
