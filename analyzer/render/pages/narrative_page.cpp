#include <algorithm>
#include <memory>
#include <utility>

#include "analyzer/render/pages/postmortem_pages.hpp"
#include "analyzer/render/paint/prose_lines.hpp"

namespace snapdiff::render {
namespace {

constexpr TextStyle kNarrativePageText{9.4};
constexpr std::size_t kTextLines = 8;
constexpr double kLabelWidth = 92;
constexpr std::size_t kNarrativePageMostPages = 3;  // of the full report; else one
constexpr std::size_t kMostHints = 12;

using Lines = std::shared_ptr<const std::vector<ProseLine>>;

Lines lines_of(PostmortemPages& pages, const Prose& prose, const TextStyle& style, double width, std::size_t most) {
  return std::make_shared<const std::vector<ProseLine>>(wrap_prose(prose, pages.type, style, width, most));
}

double height_of(const Lines& lines, const TextStyle& style) {
  return line_step(style) * static_cast<double>(lines->size());
}

/// A finding, its kind beside the first one of it.
Block finding_block(PostmortemPages& pages, const Finding& finding, bool first) {
  const Lines lines = lines_of(pages, finding.text, kNarrativePageText, kWidth - kLabelWidth, kTextLines);
  const std::string_view title = first ? title_of(finding.kind) : "";
  const double above = first ? 12 : 4;
  return {above + height_of(lines, kNarrativePageText) + 2, [lines, title, above, first](Canvas& canvas, double y) {
            if (first) canvas.rule(kLeft, kRight, y + 2, kLine, 0.4);
            const double base = y + above + kNarrativePageText.size;
            canvas.text(kLeft, base, title, {8.6, FontWeight::semibold}, kInk);
            draw_prose(*lines, canvas, kLeft + kLabelWidth, base, kNarrativePageText, kInk);
          }};
}

/// A hint is set apart: a dashed frame, the word, its evidence, what to try.
Block hint_block(PostmortemPages& pages, const Hint& hint) {
  constexpr double kHintPad = 10;
  constexpr double kLabel = 58;
  const TextStyle small{8.8};
  const double w = kWidth - 2 * kHintPad - kLabel;
  const Lines evidence = lines_of(pages, hint.evidence, small, w, 6);
  const Lines advice = lines_of(
      pages, {{hint.suggestion.empty() ? std::string("Nothing: this pattern is probably harmless.") : hint.suggestion}},
      small, w, 5);
  const double inner = 22 + height_of(evidence, small) + 4 + height_of(advice, small);
  const std::string growth =
      hint.growth == 0 ? std::string() : quantity_of(pages.report.growth().unit).growth(hint.growth);
  const Hint* const told = &hint;
  return {inner + 2 * kHintPad + 6, [=](Canvas& canvas, double y) {
            const Box box{kLeft, y + 4, kWidth, inner + 2 * kHintPad - 6};
            canvas.rect(box, kPanel, 3);
            canvas.frame(box, {kInk3, 0.7, 3, 2}, 3);
            double line = box.y + kHintPad + 7;
            const double word =
                canvas.badge(kLeft + kHintPad, line, told->harmless ? "PROBABLY HARMLESS" : "HINT", 6.2, Align::left);
            const double growth_w = growth.empty() ? 0 : canvas.width(growth, {8.6, FontWeight::semibold}) + 16;
            canvas.text_within(kLeft + kHintPad + std::max(word + 8, kLabel), line, told->title,
                               {9, FontWeight::semibold}, kInk, w - growth_w - std::max(0.0, word + 8 - kLabel));
            if (!growth.empty())
              canvas.growth(kRight - kHintPad, line, told->growth, growth, {8.6, FontWeight::semibold},
                            ramp_of(static_cast<double>(told->growth)).c700, Align::right);
            line += 16;
            canvas.text(kLeft + kHintPad, line, "evidence", {7.4}, kInk3);
            line = draw_prose(*evidence, canvas, kLeft + kHintPad + kLabel, line, small, kInk) + line_step(small) + 4;
            canvas.text(kLeft + kHintPad, line, "try", {7.4}, kInk3);
            draw_prose(*advice, canvas, kLeft + kHintPad + kLabel, line, small, kInk);
          }};
}

std::vector<Block> narrative_blocks(PostmortemPages& pages) {
  const Narrative& narrative = pages.report.narrative;
  std::vector<Block> blocks;
  std::vector<const Finding*> findings;
  for (const Finding& finding : narrative.findings) findings.push_back(&finding);
  std::ranges::stable_sort(findings, [](const Finding* a, const Finding* b) { return a->kind < b->kind; });
  for (std::size_t i = 0; i < findings.size(); ++i)
    blocks.push_back(finding_block(pages, *findings[i], i == 0 || findings[i]->kind != findings[i - 1]->kind));
  if (narrative.hints.empty()) return blocks;
  blocks.push_back(section_block("Hints", "known patterns that the evidence fits; they may be wrong"));
  // Where the page ends before them, those that are probably harmless go first.
  std::vector<const Hint*> hints;
  for (const Hint& hint : narrative.hints) hints.push_back(&hint);
  std::stable_partition(hints.begin(), hints.end(), [](const Hint* hint) { return !hint->harmless; });
  for (std::size_t i = 0; i < hints.size() && i < kMostHints; ++i) blocks.push_back(hint_block(pages, *hints[i]));
  return blocks;
}

}  // namespace

void plan_narrative(PostmortemPages& pages) {
  constexpr double kRoom = kBottom - 20 - (kTop + 46);
  const Flow flow = flow_over_pages(narrative_blocks(pages), kRoom, pages.full ? kNarrativePageMostPages : 1);
  const std::size_t hints = pages.report.narrative.hints.size();
  const std::size_t left = flow.dropped + (hints > kMostHints ? hints - kMostHints : 0);
  pages.plan.add_each(flow.pages.size(), "narrative", "What is known, and how sure", "What is known, continued",
                      "What do the figures say, and what not?", "Narrative",
                      [flow, left, full = pages.full](PdfDocument& document, std::size_t i) {
                        const double end = draw_blocks(flow.pages[i], document.canvas(), kTop + 46);
                        if (i + 1 < flow.pages.size() || left == 0) return;
                        document.canvas().text(
                            kLeft, end + 10,
                            counted(left, "more part").append(full ? " in the JSON report" : " with --full"), {7.4},
                            kInk2);
                      });
}

}  // namespace snapdiff::render
