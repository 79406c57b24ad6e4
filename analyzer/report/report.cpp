#include "analyzer/report/report.hpp"

#include "analyzer/report/headline.hpp"
#include "analyzer/report/story_lines.hpp"
#include "analyzer/report/writers.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {

void write_diff(const GrowthReport& report, const Style& style, const Sink& sink) {
  switch (style.form) {
    case Form::text: sink(text_diff(report, style)); return;
    case Form::markdown: sink(markdown_diff(report, style)); return;
    case Form::csv: csv_diff(report, {}, style, sink); return;
    case Form::json:
    case Form::jsonl: json_diff(report, {}, style, sink); return;
  }
}

void write_series(const SeriesReport& series, const std::vector<GrowthReport>& steps,
                  const std::vector<RowVerdict>& verdicts, const Style& style, const Sink& sink) {
  switch (style.form) {
    case Form::text: sink(text_series(series, steps, verdicts, style)); return;
    case Form::markdown: sink(markdown_series(series, verdicts, style)); return;
    case Form::csv:
      csv_diff(series.overall, verdicts.size() == series.overall.rows.size() ? verdicts : std::vector<RowVerdict>{},
               style, sink);
      return;
    case Form::json:
    case Form::jsonl: json_series(series, steps, verdicts, style, sink); return;
  }
}

void write_trend(const TrendReport& trend, const Style& style, const Sink& sink) {
  switch (style.form) {
    case Form::text: sink(text_trend(trend, style)); return;
    case Form::markdown: sink(markdown_trend(trend, style)); return;
    case Form::csv: csv_trend(trend, style, sink); return;
    case Form::json:
    case Form::jsonl: json_trend(trend, style, sink); return;
  }
}

void write_top(const TopReport& report, const Style& style, const Sink& sink, const AboveTop& above) {
  switch (style.form) {
    case Form::text:
      if (above.failure != nullptr) sink(text_out_of_memory(*above.failure, style).append("\n"));
      if (above.peak != nullptr) sink(headline_text(peak_lines(*above.peak, style), style).append("\n"));
      sink(text_top(report, style));
      return;
    case Form::markdown:
      if (above.failure != nullptr) sink(markdown_out_of_memory(*above.failure));
      if (above.peak != nullptr) sink(markdown_peak(*above.peak));
      sink(markdown_top(report, style));
      return;
    case Form::csv: csv_top(report, style, sink); return;
    case Form::json:
    case Form::jsonl: json_top(report, style, sink, above); return;
  }
}

std::string write_diff(const GrowthReport& report, const Style& style) {
  std::string out;
  write_diff(report, style, [&](std::string_view piece) { out += piece; });
  return out;
}

std::string write_series(const SeriesReport& series, const std::vector<GrowthReport>& steps,
                         const std::vector<RowVerdict>& verdicts, const Style& style) {
  std::string out;
  write_series(series, steps, verdicts, style, [&](std::string_view piece) { out += piece; });
  return out;
}

std::string write_trend(const TrendReport& trend, const Style& style) {
  std::string out;
  write_trend(trend, style, [&](std::string_view piece) { out += piece; });
  return out;
}

std::string write_top(const TopReport& report, const Style& style, const AboveTop& above) {
  std::string out;
  write_top(
      report, style, [&](std::string_view piece) { out += piece; }, above);
  return out;
}

std::string write_peek(const PeekReport& report, const Style& style) {
  switch (style.form) {
    case Form::text: return text_peek(report, style);
    case Form::markdown: return markdown_peek(report, style);
    case Form::csv: return csv_peek(report);
    case Form::json:
    case Form::jsonl: return json_peek(report, style);
  }
  return {};
}

std::string write_gate(const GateReport& report, const Style& style) {
  switch (style.form) {
    case Form::text: return text_gate(report, style);
    case Form::markdown: return markdown_gate(report);
    case Form::csv: return csv_gate(report);
    case Form::json:
    case Form::jsonl: return json_gate(report, style);
  }
  return {};
}

std::string bytes_text(std::int64_t bytes) { return snapdiff::bytes_text(bytes); }
std::string growth_text(std::int64_t bytes) { return snapdiff::growth_text(bytes); }
std::string count_text(std::int64_t count) { return snapdiff::count_text(count); }
std::string growth_count_text(std::int64_t count) { return snapdiff::growth_count_text(count); }

}  // namespace snapdiff::report
