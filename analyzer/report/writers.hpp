#pragma once

#include <string>
#include <vector>

#include "analyzer/report/report.hpp"
#include "analyzer/report/selection.hpp"
#include "snapdiff/growth.hpp"

/// One function per result and form; report.cpp chooses among them.
namespace snapdiff::report {

/// The table of a diff alone, from its header line to TOTAL. `verdicts` parallel to the rows or empty.
std::string growth_table(const GrowthReport& report, const Selection& selection, RowVerdicts verdicts,
                         const Style& style);

/// "before → after  +growth" of a step's own heading and the lines at the end of every text screen.
std::string text_end(const std::vector<std::string>& notes, const Style& style);

std::string text_diff(const GrowthReport& report, const Style& style);
std::string text_series(const SeriesReport& series, const std::vector<GrowthReport>& steps, RowVerdicts verdicts,
                        const Style& style);
std::string text_trend(const TrendReport& trend, const Style& style);
std::string text_gate(const GateReport& report, const Style& style);
std::string text_top(const TopReport& report, const Style& style);
std::string text_peek(const PeekReport& report, const Style& style);
/// The figures of a failed allocation, one labelled line each.
std::string text_out_of_memory(const OutOfMemory& failure, const Style& style);

/// The stacks that peek shows as both builds call them: of those that they call otherwise the few that grew or shrank
/// most.
std::vector<StackPair> shown_pairs(const PeekReport& report, bool utf8);

std::string text_counters(const CounterReport& report, const Style& style);

std::string markdown_counters(const CounterReport& report, const Style& style);
std::string markdown_diff(const GrowthReport& report, const Style& style);
std::string markdown_series(const SeriesReport& series, RowVerdicts verdicts, const Style& style);
std::string markdown_trend(const TrendReport& trend, const Style& style);
std::string markdown_gate(const GateReport& report);
std::string markdown_top(const TopReport& report, const Style& style);
std::string markdown_peek(const PeekReport& report, const Style& style);
std::string markdown_out_of_memory(const OutOfMemory& failure);
std::string markdown_peak(const PeakStory& peak);

std::string csv_diff(const GrowthReport& report, RowVerdicts verdicts, const Style& style);
std::string csv_trend(const TrendReport& trend, const Style& style);
std::string csv_top(const TopReport& report, const Style& style);
std::string csv_counters(const CounterReport& report, const Style& style);
std::string csv_gate(const GateReport& report);
std::string csv_peek(const PeekReport& report);

std::string json_diff(const GrowthReport& report, RowVerdicts verdicts, const Style& style);
std::string json_series(const SeriesReport& series, const std::vector<GrowthReport>& steps, RowVerdicts verdicts,
                        const Style& style);
std::string json_trend(const TrendReport& trend, const Style& style);
std::string json_top(const TopReport& report, const Style& style, const AboveTop& above);
std::string json_counters(const CounterReport& report, const Style& style);
std::string json_gate(const GateReport& report, const Style& style);
std::string json_peek(const PeekReport& report, const Style& style);

/// The verdict; "" where there are too few values to claim one.
std::string_view word_of(const CounterRow& row);

/// "19/20": instances on which a row grew; "" where that cannot be told.
inline std::string instances_text(const InstanceCount& count) {
  return count.of == 0 ? std::string() : std::to_string(count.grew) + "/" + std::to_string(count.of);
}

/// A value at each snapshot as bars from zero, at most `width` of them; zero is `_`.
std::string sparkline(const std::int64_t* values, std::size_t count, std::size_t width, bool utf8);

}  // namespace snapdiff::report
