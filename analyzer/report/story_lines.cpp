#include "analyzer/report/headline.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "analyzer/report/text_tools.hpp"
#include "snapdiff/trend.hpp"

namespace snapdiff::report {
namespace {

constexpr std::size_t kLabel = 10;  // column of the first text, as headline_text() sets it
constexpr std::size_t kLongestName = 40;
constexpr std::size_t kLongestOwner = 56;  // type, field and collection
constexpr std::size_t kShortestCulprit = 16;
constexpr std::size_t kLongestPlace = 28;

struct CulpritColumns {
  std::size_t name = 0, place = 0, growth = 0, share = 0;
};

struct Cells {
  std::string name, place, growth, share, spread, pace, via;
};

Cells cells_of(const Culprit& culprit, const Style& style) {
  const auto text = [&](const std::string& words) { return plain_text(Span{words, false}, style.utf8); };
  Cells cells;
  cells.name = plain_text(culprit.text.name, style.utf8);
  cells.place = plain_text(culprit.text.place, style.utf8);
  cells.growth = text(culprit.text.growth);
  cells.share = text(culprit.text.share);
  cells.spread = text(culprit.text.spread);
  cells.pace = plain_text(culprit.text.pace, style.utf8);
  if (!culprit.text.via.empty()) cells.via = "(" + plain_text(culprit.text.via, style.utf8) + ")";
  return cells;
}

CulpritColumns widths_of(const std::vector<Cells>& all, bool owners, const Style& style) {
  CulpritColumns columns;
  for (const Cells& cells : all) {
    columns.name = std::max(columns.name, display_width(cells.name));
    columns.place = std::max(columns.place, display_width(cells.place));
    columns.growth = std::max(columns.growth, display_width(cells.growth));
    columns.share = std::max(columns.share, display_width(cells.share));
  }
  if (style.whole_names) return columns;
  columns.place = std::min(columns.place, kLongestPlace);
  const std::size_t others = kLabel + columns.place + columns.growth + columns.share + 6;
  const std::size_t left = style.width > others ? style.width - others : 0;
  columns.name = std::min({columns.name, owners ? kLongestOwner : kLongestName, std::max(left, kShortestCulprit)});
  return columns;
}

HeadLine line_of(const Culprit& culprit, const Cells& cells, const CulpritColumns& columns, const Style& style) {
  const Glyphs glyphs = glyphs_for(style.utf8);
  HeadLine line{culprit.text.label, {}};
  line.label_paint = verdict_paint(culprit.verdict.word);
  const std::string name = cut_name(cells.name, columns.name, glyphs.ellipsis);
  const std::string place = cut_name(cells.place, columns.place, glyphs.ellipsis);
  std::string rest = "  " + pad_left(cells.share, columns.share);
  std::size_t width = kLabel + columns.name + columns.growth + 2 + display_width(rest);
  line.pieces.emplace_back(pad_right(name, columns.name), Paint::bold);
  if (columns.place > 0) {
    line.pieces.emplace_back("  " + pad_right(place, columns.place), Paint::none);
    width += columns.place + 2;
  }
  line.pieces.emplace_back("  " + pad_left(cells.growth, columns.growth),
                           culprit.growth() < 0 ? Paint::shrinkage : Paint::growth);
  // A clause that does not fit goes, with all after it.
  for (const std::string* text : std::array{&cells.spread, &cells.pace, &cells.via}) {
    if (text->empty()) continue;
    const auto fits = [&](std::size_t length) {
      return width + 2 + display_width(text->substr(0, length)) <= style.width;
    };
    std::size_t length = text->size();
    while (text == &cells.pace && !fits(length) && length != std::string::npos && length > 0)
      length = text->rfind(", ", length - 1);
    if (length == 0 || length == std::string::npos || !fits(length)) continue;
    rest += "  " + text->substr(0, length);
    width += 2 + display_width(text->substr(0, length));
    if (length < text->size()) break;
  }
  while (!rest.empty() && rest.back() == ' ') rest.pop_back();
  line.pieces.emplace_back(rest, Paint::none);
  line.wraps = false;
  return line;
}

std::vector<HeadLine> lines_of(const std::vector<const Culprit*>& shown, const Style& style) {
  std::vector<Cells> cells;
  cells.reserve(shown.size());
  for (const Culprit* culprit : shown) cells.push_back(cells_of(*culprit, style));
  const bool owners = std::any_of(shown.begin(), shown.end(), [](const Culprit* c) { return c->is_owner; });
  const CulpritColumns columns = widths_of(cells, owners, style);
  std::vector<HeadLine> lines;
  for (std::size_t i = 0; i < shown.size(); ++i) lines.push_back(line_of(*shown[i], cells[i], columns, style));
  return lines;
}

HeadLine also_line(const Story& story, const Style& style) {
  std::string text;
  for (const Prose& prose : story.also) text += (text.empty() ? "" : "; ") + plain_text(prose, style.utf8);
  return {"also", {{text, Paint::none}}};
}

}  // namespace

Paint verdict_paint(std::string_view word) {
  if (word == "GROWING") return Paint::alarm;
  return word == "GONE" || word == "SHRINKING" ? Paint::shrinkage : Paint::none;
}

std::vector<HeadLine> event_lines(const Story& story, const Style& style) {
  std::vector<HeadLine> lines;
  for (const Event& event : story.events) {
    std::string text = event.title;
    if (!event.text.empty()) text += ": " + plain_text(event.text, style.utf8);
    HeadLine line{"warning", {{std::move(text), Paint::bold}}};
    line.label_paint = Paint::alarm;
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<HeadLine> story_lines(const Story& story, const Style& style) {
  std::vector<const Culprit*> shown;
  for (const Culprit& culprit : story.freed) shown.push_back(&culprit);
  for (const Culprit& culprit : story.culprits) shown.push_back(&culprit);
  std::vector<HeadLine> lines = lines_of(shown, style);
  if (!story.no_culprit.empty())
    lines.push_back({"culprits", {{"none: " + plain_text(Span{story.no_culprit, false}, style.utf8), Paint::none}}});
  if (!story.also.empty()) lines.push_back(also_line(story, style));
  if (!story.no_verdict.empty()) lines.push_back({"verdict", {{"none: " + story.no_verdict, Paint::none}}});
  return lines;
}

std::vector<HeadLine> peak_lines(const PeakStory& peak, const Style& style) {
  constexpr std::size_t kMost = 5;
  const auto line = [&](const char* label, const Prose& prose) {
    return HeadLine{label, {{plain_text(prose, style.utf8), Paint::none}}};
  };
  std::vector<HeadLine> lines;
  lines.push_back(
      {peak.facts.roles.empty() ? "holds" : "peak", {{plain_text(peak.headline, style.utf8), Paint::bold}}});
  lines.push_back({"", {{plain_text(Span{peak.figures, false}, style.utf8), Paint::none}}});
  std::vector<const Culprit*> shown;
  for (const PeakPart& part : peak.parts) {
    if (shown.size() < kMost) shown.push_back(&part);
  }
  for (HeadLine& part : lines_of(shown, style)) lines.push_back(std::move(part));
  for (const Prose& module : peak.modules) lines.push_back(line("module", module));
  for (const Prose& advice : peak.advice) lines.push_back(line("advice", advice));
  if (!peak.next.empty()) lines.push_back(line("next", peak.next));
  return lines;
}

}  // namespace snapdiff::report
