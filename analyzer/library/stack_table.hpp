#pragma once

#include "analyzer/library/arrow_table.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/trend.hpp"

namespace snapdiff::library {

/// The table "rows" of snapdiff.h. `trend`, which `report` belongs to, adds the columns of a series; null without one.
/// Throws limit, std::bad_alloc.
ArrowTable rows_table(const GrowthReport& report, const TrendReport* trend);

}  // namespace snapdiff::library
