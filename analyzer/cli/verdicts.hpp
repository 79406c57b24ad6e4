#pragma once

#include <vector>

#include "analyzer/report/report.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::cli {

/// A verdict per row of the first -> last view; empty below 8 snapshots (verdict.md) or where the
/// report has no series.
std::vector<report::RowVerdict> row_verdicts(const GrowthReport& overall);

}  // namespace snapdiff::cli
