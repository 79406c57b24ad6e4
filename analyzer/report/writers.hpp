#pragma once

#include <string>
#include <vector>

#include "analyzer/report/report.hpp"
#include "analyzer/report/selection.hpp"
#include "snapdiff/growth.hpp"

/// The common parts of the results' files: each holds one result in all its forms.
namespace snapdiff::report {

/// The table of a diff alone, from its header line to TOTAL. `verdicts` parallel to the rows or empty.
std::string growth_table(const GrowthReport& report, const Selection& selection, RowVerdicts verdicts,
                         const Style& style);

/// The table of a trend alone, in the form that the style names: text or Markdown.
std::string trend_table(const TrendReport& trend, const Style& style);

/// "before → after  +growth" of a step's own heading and the lines at the end of every text screen.
std::string text_end(const std::vector<std::string>& notes, const Style& style);

/// The text of the writer of the form; JSON Lines are a form of JSON.
template <class Text, class Markdown, class Csv, class Json>
std::string in_form(Form form, const Text& text, const Markdown& markdown, const Csv& csv, const Json& json) {
  switch (form) {
    case Form::text: return text();
    case Form::markdown: return markdown();
    case Form::csv: return csv();
    case Form::json:
    case Form::jsonl: return json();
  }
  return {};
}

/// The stacks that peek shows as both builds call them: of those that they call otherwise the few that grew or shrank
/// most.
std::vector<StackPair> shown_pairs(const PeekReport& report, bool utf8);

/// The figures of a failed allocation, one labelled line each.
std::string text_out_of_memory(const OutOfMemory& failure, const Style& style);
std::string markdown_out_of_memory(const OutOfMemory& failure);
std::string markdown_peak(const PeakStory& peak);

/// The parts of resident memory, as a section of a report.
std::string markdown_waterfall(const Waterfall& waterfall, const Style& style);

std::string csv_diff(const GrowthReport& report, RowVerdicts verdicts, const Style& style);
std::string csv_trend(const TrendReport& trend, const Style& style);
std::string csv_top(const TopReport& report, const Style& style);

std::string json_diff(const GrowthReport& report, RowVerdicts verdicts, const Style& style);
std::string json_series(const SeriesReport& series, const std::vector<GrowthReport>& steps, RowVerdicts verdicts,
                        const Style& style);

/// "19/20": instances on which a row grew; "" where that is unknown.
inline std::string instances_text(const InstanceCount& count) {
  return count.of == 0 ? std::string() : std::to_string(count.grew) + "/" + std::to_string(count.of);
}

/// A value at each snapshot as bars from zero, at most `width` of them; zero is `_`.
std::string sparkline(const std::int64_t* values, std::size_t count, std::size_t width, bool utf8);

}  // namespace snapdiff::report
