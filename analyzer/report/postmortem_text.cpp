#include <array>
#include <utility>

#include "analyzer/report/headline.hpp"
#include "analyzer/report/prose_text.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/story_lines.hpp"
#include "analyzer/report/text_tools.hpp"

namespace snapdiff::report {
namespace {

using Signs = std::pair<std::string_view, std::string_view>;
constexpr std::array<Signs, 3> kNumberSigns = {Signs{"\u2212", "-"}, Signs{"\u2009", ""}, Signs{"\u00a0", " "}};
constexpr std::array<Signs, 4> kOtherSigns = {Signs{"\u203a", ">"}, Signs{"\u2039", "<"}, Signs{"\u00b1", "+-"},
                                              Signs{"\u2026", ".."}};

template <class Table>
void replace(std::string& text, const Table& signs) {
  for (const auto& [from, to] : signs) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string plain_text(const Span& span, bool utf8) {
  std::string text = span.text;
  if (span.name) {
    if (!utf8) replace(text, kOtherSigns);
    return printable(text, utf8);
  }
  replace(text, kNumberSigns);
  if (!utf8) replace(text, kOtherSigns);
  return printable(text, utf8);
}

std::string plain_text(const Prose& prose, bool utf8) {
  std::string out;
  for (const Span& span : prose) out += plain_text(span, utf8);
  return out;
}

std::string postmortem_text(const Postmortem& report, const Style& style) {
  std::string out;
  for (const Prose& line : report.narrative.in_short) {
    std::string text = wrapped(plain_text(line, style.utf8), style.width, 2);
    const std::string& word = report.narrative.verdict;
    if (!word.empty() && text.starts_with(word + ":"))
      text = painted(word, verdict_paint(word), style.colour) + text.substr(word.size());
    out += text + "\n";
  }
  return out;
}

}  // namespace snapdiff::report
