#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report/headline.hpp"
#include "analyzer/report/selection.hpp"
#include "snapdiff/trend.hpp"

/// The common parts of the forms of a trend.
namespace snapdiff::report {

/// Below this many snapshots rows are ranked, and nothing is claimed.
inline bool is_judged(const TrendReport& trend) { return trend.series.steps.size() >= kJudgedFrom; }

/// Rows by rank, limited by the style; people do not see flat ones. `others` is the rest.
Selection select_rows(const TrendReport& trend, const Style& style);

/// The words after the limit: " in 30 snapshots (26 to 34), that is 29.5 h (26.3 h to 34.3 h)". `step`: seconds, 0
/// without.
std::string forecast_text(const Forecast& forecast, double step);

/// The lines above the table: those of the diff, the trend of the total, the forecast, and what is
/// not as it should be about the series.
std::vector<HeadLine> headline(const TrendReport& trend, const Style& style);

/// The verdicts of the rows; none where the series is not judged.
inline RowVerdicts row_verdicts(const TrendReport& trend) {
  const bool judged = is_judged(trend) && trend.verdicts.size() == trend.series.overall.rows.size();
  return judged ? RowVerdicts(trend.verdicts) : RowVerdicts();
}

}  // namespace snapdiff::report
