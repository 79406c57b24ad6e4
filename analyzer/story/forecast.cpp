#include <vector>

#include "analyzer/story/story_parts.hpp"

namespace snapdiff::story {

Forecast forecast_of(const TrendReport& trend) {
  const GrowthReport& report = trend.series.overall;
  std::vector<double> total, climbing(trend.series.steps.size(), 0);
  for (const SeriesStep& step : trend.series.steps) total.push_back(static_cast<double>(step.total));
  trend::Points points;
  bool any = false;
  for (const Culprit& culprit : report.story->culprits) {
    if (culprit.verdict.word != "GROWING" || culprit.values.size() != climbing.size()) continue;
    for (std::size_t i = 0; i < climbing.size(); ++i) climbing[i] += static_cast<double>(culprit.values[i]);
    any = true;
  }
  if (!any && trend.whole.word == "GROWING") climbing = total;
  points.values = climbing;
  points.times = trend.axis.places;
  points.error = trend::error_of_total(report);
  return trend::forecast(climbing, total, trend::judge(points), static_cast<double>(*trend.limit));
}

}  // namespace snapdiff::story
