#include "analyzer/report/markdown_parts.hpp"

#include "analyzer/base/number_text.hpp"
#include "analyzer/base/printable.hpp"
#include "analyzer/document/terms.hpp"
#include "analyzer/report/headline.hpp"

namespace snapdiff::report {

std::string literal(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '@': out += "&#64;"; break;
      case '#': out += "&#35;"; break;
      case '|':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '~':
      case '\\': out += '\\'; [[fallthrough]];
      default: out += c;
    }
  }
  return out;
}

std::string markdown_head(const std::vector<HeadLine>& lines) {
  std::string out;
  for (const HeadLine& line : lines) out += "- **" + literal(line.label) + "** " + literal(line.plain()) + "\n";
  return out + "\n";
}

std::string markdown_notes(const std::vector<std::string>& notes) {
  std::string out;
  for (const std::string& note : notes) out += "- " + literal(note) + "\n";
  return out.empty() ? out : "\n" + out;
}

std::string markdown_title(const SnapshotRef& baseline, const SnapshotRef& current, const std::string& metric,
                           const Change& total, const std::string& unit) {
  // The headline is the answer: quantity, verb, before, after.
  const std::string_view title = document::metric_term(metric).title;
  std::string text = title.empty() ? literal(printable(metric)) : std::string(title);
  text += " " + snapdiff::change_text(total.baseline, total.current, unit);
  return "### " + text + "\n\n" + literal(snapshot_name(baseline, true)) + " → " +
         literal(snapshot_name(current, true)) + "\n\n";
}

Style unwrapped(const Style& style) {
  Style wide = style;
  wide.width = 1000;
  wide.utf8 = true;
  wide.colour = false;
  return wide;
}

}  // namespace snapdiff::report
