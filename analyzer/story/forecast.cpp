#include <vector>

#include "analyzer/story/story_parts.hpp"

namespace snapdiff::story {

Forecast forecast_of(const TrendReport& trend) {
  const GrowthReport& report = trend.series.overall;
  const std::vector<double> total = trend::totals_of(trend.series);
  std::vector<double> climbing(total.size(), 0);
  bool any = false;
  for (const Culprit& culprit : report.story->culprits) {
    if (culprit.verdict.word != "GROWING" || culprit.values.size() != climbing.size()) continue;
    for (std::size_t i = 0; i < climbing.size(); ++i) climbing[i] += static_cast<double>(culprit.values[i]);
    any = true;
  }
  if (!any && trend.whole.word == "GROWING") climbing = total;
  const Verdict verdict = trend::judge({climbing, trend.axis.places, {}, {}, trend::error_of_total(report)});
  return trend::forecast(climbing, total, verdict, static_cast<double>(*trend.limit));
}

}  // namespace snapdiff::story
