#include "analyzer/report/headline.hpp"
#include "analyzer/report/listed_once_table.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {

std::string text_end(const std::vector<std::string>& notes, const Style& style) {
  std::string out;
  if (!notes.empty()) out += "\n";
  for (const std::string& note : notes) out += wrapped_line(note, style);
  if (!style.footer.empty()) out += "\n" + style.footer + "\n";
  return out;
}

std::string text_diff(const GrowthReport& report, const Style& style) {
  std::string out = headline_text(headline(report, style), style);
  out += "\n";
  out += growth_table(report, select_rows(report, style, unchanged_rows(report, style)), {}, style);
  out += listed_once_text(report, style);
  return out + text_end(note_lines(report, style.utf8), style);
}

std::string markdown_diff(const GrowthReport& report, const Style& style) {
  return markdown_title(report.baseline, report.current, report.metric, report.total, report.unit) +
         markdown_head(headline(report, unwrapped(style))) + growth_rows(report, {}, style) +
         listed_once_markdown(report, style) + markdown_notes(note_lines(report, true));
}

}  // namespace snapdiff::report
