#include "analyzer/document/growth_columns.hpp"
#include "analyzer/document/top_columns.hpp"
#include "analyzer/report/cells.hpp"
#include "analyzer/report/selection.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {

namespace {

/// Rows, and what completes their sum. No TOTAL, so that columns can be summed. `more` adds lines that are in no sum.
template <class More>
std::string csv_growth(const document::GrowthView& view, const Selection& selection, const Style& style,
                       const More& more) {
  const auto fields = fields_of(document::growth_fields(view.trend != nullptr), view);
  return csv_table(fields, view.report.series_length, style, [&](const auto& add) {
    for (const std::uint32_t row : selection.rows) add(row_line(view, row));
    const Others& others = selection.others;
    if (others.rows > 0) add(rest_line(view, others_name(others), others.value, others.objects));
    for (const document::GrowthLine& line : unlisted_lines(view)) add(line);
    more(add);
  });
}

}  // namespace

std::string csv_diff(const GrowthReport& report, RowVerdicts verdicts, const Style& style) {
  const document::GrowthView view{.report = report, .verdicts = verdicts};
  return csv_growth(view, select_rows(report, style, Unchanged::shown), style, [&](const auto& add) {
    for (std::uint32_t i = 0; i < report.listed_once.size(); ++i) add(listed_once_line(view, i));
  });
}

std::string csv_trend(const TrendReport& trend, const Style& style) {
  const document::GrowthView view{.report = trend.series.overall, .trend = &trend, .verdicts = trend.verdicts};
  return csv_growth(view, select_rows(trend, style), style, [](const auto&) {});
}

std::string csv_top(const TopReport& report, const Style& style) {
  const document::TopView view{.report = report};
  const Selection selection = select_rows(report, style);
  return csv_table(fields_of(document::top_fields(), view), 0, style, [&](const auto& add) {
    for (const std::uint32_t row : selection.rows) add(row_line(view, row));
    const Others& others = selection.others;
    if (others.rows > 0) add(rest_line(view, others_name(others), others.value.current, others.objects.current));
    for (const document::TopLine& line : unlisted_lines(view)) add(line);
  });
}

}  // namespace snapdiff::report
