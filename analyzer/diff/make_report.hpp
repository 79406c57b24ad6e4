#pragma once

#include "analyzer/diff/comparison.hpp"
#include "analyzer/diff/frame_order.hpp"
#include "analyzer/diff/grouping.hpp"
#include "analyzer/diff/side.hpp"

namespace snapdiff::diff {

/// The finished report from the first to the last side: rows in order, sums, notes; conservation checked.
/// Errors: limit, internal.
struct ReportParts {
  SeriesOf series;       ///< of GrowthReport::series and object_series
  bool by_stack = true;  ///< with rows that are no stacks: GrowthReport::by_stack too
};
Result<GrowthReport> make_report(const Comparison& comparison, const ReportParts& parts);

/// The stacks of rows that were matched across builds, as the baseline calls them: of each row the largest of those
/// whose functions are most like those of the stack that stands for it.
std::vector<Counterpart> counterparts_of(const Comparison& c, const Grouped& g, ComparisonView& view);

/// The visible addresses of one side that have no name, and what of the metric is allocated at them.
Unnamed find_unnamed(const Side& side, const Dictionary& d);

}  // namespace snapdiff::diff
