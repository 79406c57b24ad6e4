#include "analyzer/report/report.hpp"

#include "analyzer/report/headline.hpp"
#include "analyzer/report/story_lines.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

/// What the writer of the form returns; JSON Lines are a form of JSON.
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

}  // namespace

std::string write_diff(const GrowthReport& report, const Style& style) {
  return in_form(
      style.form, [&] { return text_diff(report, style); }, [&] { return markdown_diff(report, style); },
      [&] { return csv_diff(report, {}, style); }, [&] { return json_diff(report, {}, style); });
}

std::string write_series(const SeriesReport& series, const std::vector<GrowthReport>& steps, RowVerdicts verdicts,
                         const Style& style) {
  const RowVerdicts known = verdicts.size() == series.overall.rows.size() ? verdicts : RowVerdicts();
  return in_form(
      style.form, [&] { return text_series(series, steps, known, style); },
      [&] { return markdown_series(series, known, style); }, [&] { return csv_diff(series.overall, known, style); },
      [&] { return json_series(series, steps, known, style); });
}

std::string write_trend(const TrendReport& trend, const Style& style) {
  return in_form(
      style.form, [&] { return text_trend(trend, style); }, [&] { return markdown_trend(trend, style); },
      [&] { return csv_trend(trend, style); }, [&] { return json_trend(trend, style); });
}

std::string write_top(const TopReport& report, const Style& style, const AboveTop& above) {
  const auto text = [&] {
    std::string out;
    if (above.failure != nullptr) out += text_out_of_memory(*above.failure, style).append("\n");
    if (above.peak != nullptr) out += headline_text(peak_lines(*above.peak, style), style).append("\n");
    return out + text_top(report, style);
  };
  const auto markdown = [&] {
    std::string out;
    if (above.failure != nullptr) out += markdown_out_of_memory(*above.failure);
    if (above.peak != nullptr) out += markdown_peak(*above.peak);
    return out + markdown_top(report, style);
  };
  return in_form(
      style.form, text, markdown, [&] { return csv_top(report, style); },
      [&] { return json_top(report, style, above); });
}

std::string write_peek(const PeekReport& report, const Style& style) {
  return in_form(
      style.form, [&] { return text_peek(report, style); }, [&] { return markdown_peek(report, style); },
      [&] { return csv_peek(report); }, [&] { return json_peek(report, style); });
}

std::string write_gate(const GateReport& report, const Style& style) {
  return in_form(
      style.form, [&] { return text_gate(report, style); }, [&] { return markdown_gate(report); },
      [&] { return csv_gate(report); }, [&] { return json_gate(report, style); });
}

std::string write_counters(const CounterReport& report, const Style& style) {
  return in_form(
      style.form, [&] { return text_counters(report, style); }, [&] { return markdown_counters(report, style); },
      [&] { return csv_counters(report, style); }, [&] { return json_counters(report, style); });
}

}  // namespace snapdiff::report
