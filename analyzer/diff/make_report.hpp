#pragma once

#include <memory>

#include "analyzer/diff/comparison.hpp"
#include "analyzer/diff/frame_order.hpp"
#include "analyzer/diff/grouping.hpp"

namespace snapdiff::diff {

/// The finished report from the first to the last side: rows in order, sums, notes; conservation checked.
/// Errors: limit, internal.
struct ReportParts {
  SeriesOf series;       ///< of GrowthReport::series and object_series
  bool by_stack = true;  ///< with rows that are no stacks: GrowthReport::by_stack too
};
Result<GrowthReport> make_report(const Comparison& comparison, const ReportParts& parts);

/// One standard deviation of what has this variance; NaN where a side's sampling is unknown.
double error_of(const Comparison& comparison, double variance);

}  // namespace snapdiff::diff
