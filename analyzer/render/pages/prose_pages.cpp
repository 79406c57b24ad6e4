#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "analyzer/base/concat.hpp"
#include "analyzer/document/answer_parts.hpp"
#include "analyzer/render/pages/pages.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"
#include "analyzer/render/paint/canvas.hpp"
#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

constexpr TextStyle kNarrativePageText{9.4};
constexpr std::size_t kTextLines = 8;
constexpr double kLabelWidth = 92;
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
  for (const Finding& finding : narrative.findings) {
    // Page 1 of a comparison begins with the opening, and ends with the next command.
    const bool is_told = &finding == &narrative.findings.front() ? finding.kind == Finding::Kind::what
                                                                 : finding.kind == Finding::Kind::next;
    if (!pages.has_stacks || !is_told) findings.push_back(&finding);
  }
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

constexpr std::size_t kUnknownPageMostNotes = 60;
constexpr std::size_t kMostListed = 12;
constexpr std::size_t kMostModules = 8;

/// Name, value, and what it means.
struct ValueLine {
  std::string name, value, meaning;
  bool plain = false;  ///< nothing was lost here
};

Block line_block(PostmortemPages& pages, const ValueLine& line) {
  constexpr TextStyle kText{8};
  constexpr double kMeaning = 236;
  auto lines = wrap_prose({{line.meaning}}, pages.type, kText, kWidth - kMeaning, 4);
  const double height = std::max(1.0, static_cast<double>(lines.size())) * line_step(kText) + 5;
  return {height, [lines = std::move(lines), line, height](Canvas& canvas, double y) {
            const Color color = line.plain ? kInk2 : kInk;
            canvas.text_within(kLeft, y + 10, line.name, {8.2, FontWeight::medium}, color, 132);
            canvas.text(kLeft + 222, y + 10, line.value, {8.2}, color, Align::right);
            draw_prose(lines, canvas, kLeft + kMeaning, y + 10, {8}, kInk2);
            canvas.rule(kLeft, kRight, y + height, kLine, 0.4);
          }};
}

std::string change_text(const Change& change, const Quantity& q) {
  return q.value(change.baseline).append(" \u2192 ").append(q.value(change.current));
}

/// Bytes that the comparison could not put into a row, or left out.
std::vector<ValueLine> sums(const GrowthReport& report) {
  const Quantity q = quantity_of(report.unit);
  std::vector<ValueLine> lines;
  const auto add = [&](const char* name, const Change& change, const char* meaning) {
    const bool nothing = change == Change{};
    lines.push_back({name, change_text(change, q), meaning, nothing});
  };
  add("unattributed", report.unattributed, "in the total, but the input gives no stack for it; first \u2192 last");
  add("filtered out", report.filtered, "stacks that the options of the comparison leave out; in the total");
  lines.push_back({"shrinkage under the net", q.growth(report.shrank),
                   "what shrank, and is hidden where only the net is shown", report.shrank == 0});
  const Unnamed& unnamed = report.unnamed;
  lines.push_back({"addresses without a name", count_text(std::min<std::uint64_t>(unnamed.unnamed, 1ULL << 62)),
                   unnamed.unnamed == 0 ? std::string("every frame of the last snapshot has a name")
                                        : concat("of ", counted(unnamed.addresses, "address"),
                                                 " in the last snapshot; ", q.value(unnamed.value),
                                                 " in stacks that hold one. Binaries or symbol files can name them"),
                   unnamed.unnamed == 0});
  lines.push_back({"listed at one end only", count_text(report.listed_once.size()),
                   report.listed_once.empty() ? std::string("no stack is missing on one side of a list that is cut")
                                              : concat("stacks whose growth nobody knows, because the source leaves "
                                                       "rows out; in no row and in no total: ",
                                                       change_text(report.listed_once_value, q)),
                   report.listed_once.empty()});
  lines.push_back({"possible pairs", count_text(std::min<std::uint64_t>(report.possible_pairs, 1ULL << 62)),
                   "stacks on one side only that are alike, but not alike enough to be compared",
                   report.possible_pairs == 0});
  const bool known = std::isfinite(report.total_error) && report.total_error < 9e18;
  lines.push_back({"\u00b1 of the total",
                   report.exact                ? "0"
                   : known && report.has_error ? q.value(std::llround(report.total_error))
                                               : "n/a",
                   report.exact        ? "nothing was sampled"
                   : !report.has_error ? "how far sampling may mislead is not known"
                   : report.rounded    ? "by rounding in the source"
                                       : "one standard deviation by sampling",
                   report.exact});
  return lines;
}

std::string leaf_of(const GrowthReport& report, const StackRef& stack) {
  if (report.view == nullptr) return "";
  std::vector<FrameView> frames;
  report.view->frames(stack, frames);
  std::string text;
  for (std::size_t i = 0; i < frames.size() && i < 3; ++i)
    text.append(i == 0 ? "" : " \u2039 ").append(frame_name(frames[i]));
  return frames.empty() ? std::string("[every frame hidden]") : text;
}

void add_details(PostmortemPages& pages, std::vector<Block>& blocks) {
  const GrowthReport& report = pages.report.growth();
  const Quantity q = quantity_of(report.unit);
  if (!report.unnamed.modules.empty()) {
    blocks.push_back(section_block("Where addresses have no name", "by module, in the last snapshot"));
    for (std::size_t i = 0; i < report.unnamed.modules.size() && i < kMostModules; ++i) {
      const UnnamedModule& module = report.unnamed.modules[i];
      blocks.push_back(line_block(
          pages, {module.module.empty() ? std::string("outside every module") : printable(base_name(module.module)),
                  q.value(module.value), counted(module.addresses, "address"), false}));
    }
    if (report.unnamed.modules.size() > kMostModules)
      blocks.push_back(
          line_block(pages, {counted(report.unnamed.modules.size() - kMostModules, "module").append(" more"), "",
                             "in the JSON report", true}));
  }
  if (report.listed_once.empty()) return;
  blocks.push_back(section_block("Listed at one end only", "the value between the snapshots that list it"));
  for (std::size_t i = 0; i < report.listed_once.size() && i < kMostListed; ++i) {
    const ListedOnce& once = report.listed_once[i];
    blocks.push_back(line_block(pages, {leaf_of(report, once.stack), change_text(once.value, q),
                                        concat("known at ", once.first + 1, " to ", once.last + 1), false}));
  }
  if (report.listed_once.size() > kMostListed)
    blocks.push_back(line_block(pages, {counted(report.listed_once.size() - kMostListed, "stack").append(" more"), "",
                                        "in the JSON report", true}));
}

/// A remark of an input or of the comparison: the severity as a word and a form, never by colour.
Block note_block(PostmortemPages& pages, const Note& note) {
  constexpr TextStyle kText{8.2};
  constexpr double kWord = 82;
  constexpr double kCount = 50;
  auto lines = wrap_prose({{note.text}}, pages.type, kText, kWidth - kWord - kCount, 3);
  const double height = static_cast<double>(std::max<std::size_t>(lines.size(), 1)) * line_step(kText) + 6;
  return {height,
          [lines = std::move(lines), severity = note.severity, count = note.count, height](Canvas& canvas, double y) {
            const Box mark{kLeft, y + 3.2, 8, 8};
            if (severity == Severity::data_loss) canvas.rect(mark, kInk);
            if (severity == Severity::warning) canvas.hatched(mark, kInk, 2.4, 0.7);
            canvas.frame(mark, {kInk2, 0.7});
            canvas.text(kLeft + 14, y + 10.4, to_text(severity),
                        {8, severity == Severity::info ? FontWeight::regular : FontWeight::semibold}, kInk);
            draw_prose(lines, canvas, kLeft + kWord, y + 10.4, {8.2}, kInk);
            const std::uint64_t times = std::min<std::uint64_t>(count, 1ULL << 62);
            canvas.text(kRight, y + 10.4, count_text(times).append("\u00d7"), {8}, kInk2, Align::right);
            canvas.rule(kLeft, kRight, y + height, kLine, 0.4);
          }};
}

std::vector<Block> unknown_blocks(PostmortemPages& pages) {
  std::vector<Block> blocks;
  const std::vector<const Note*> notes = document::by_gravity(pages.report.notes);
  const bool lost = std::ranges::any_of(notes, [](const Note* note) { return note->severity == Severity::data_loss; });
  blocks.push_back(section_block("Remarks on the inputs", "gravest first; how often each was made"));
  if (notes.empty()) {
    blocks.push_back({18, [](Canvas& canvas, double y) {
                        canvas.text(kLeft, y + 12, "Nothing was dropped, and there are no remarks.", {8.6}, kInk);
                      }});
  } else if (!lost) {
    blocks.push_back(
        {18, [](Canvas& canvas, double y) { canvas.text(kLeft, y + 12, "Nothing was dropped.", {8.6}, kInk); }});
  }
  for (std::size_t i = 0; i < notes.size() && i < kUnknownPageMostNotes; ++i)
    blocks.push_back(note_block(pages, *notes[i]));
  if (notes.size() > kUnknownPageMostNotes)
    blocks.push_back({16, [more = notes.size() - kUnknownPageMostNotes](Canvas& canvas, double y) {
                        canvas.text(kLeft, y + 11, counted(more, "more remark").append(" in the JSON report"), {8},
                                    kInk2);
                      }});
  if (!pages.has_stacks) return blocks;
  blocks.push_back(section_block("What rows of growth do not show", "grey where nothing is missing"));
  for (const ValueLine& line : sums(pages.report.growth())) blocks.push_back(line_block(pages, line));
  add_details(pages, blocks);
  return blocks;
}

constexpr std::size_t kPageNotesMostNotes = 3;
constexpr std::size_t kMostLines = 2;  // of one note
constexpr double kAbove = 3;
constexpr TextStyle kNoteStyle{6.8};

std::vector<ProseLine> lines_of(const std::vector<std::string>& notes, Typesetter& type) {
  std::vector<ProseLine> lines;
  const auto add = [&](const std::string& text) {
    for (ProseLine& line : wrap_prose({{text}}, type, kNoteStyle, kWidth, kMostLines)) lines.push_back(std::move(line));
  };
  const std::size_t shown = std::min(notes.size(), kPageNotesMostNotes);
  for (std::size_t i = 0; i < shown; ++i) add(notes[i]);
  if (shown < notes.size()) add(counted(notes.size() - shown, "more note"));
  return lines;
}

}  // namespace

void plan_narrative(PostmortemPages& pages) {
  constexpr double kRoom = kBottom - 20 - (kTop + 46);
  const Flow flow = flow_over_pages(narrative_blocks(pages), kRoom, 1);
  const std::size_t hints = pages.report.narrative.hints.size();
  const std::size_t left = flow.dropped + (hints > kMostHints ? hints - kMostHints : 0);
  pages.plan.add_each(
      flow.pages.size(), "What is known, and how sure", "What is known, continued",
      "What do the figures say, and what not?", "Narrative", [flow, left](PdfDocument& document, std::size_t i) {
        const double end = draw_blocks(flow.pages[i], document.canvas(), kTop + 46);
        if (i + 1 < flow.pages.size() || left == 0) return;
        document.canvas().text(kLeft, end + 10, counted(left, "more part").append(" in the JSON report"), {7.4}, kInk2);
      });
}

void plan_unknown(PostmortemPages& pages) {
  const Flow flow = flow_over_pages(unknown_blocks(pages), kBottom - 10 - (kTop + 42), 2);
  pages.plan.add_each(
      flow.pages.size(), "What was dropped or is not known", "Dropped or not known, continued",
      "What is missing from the figures?", "Dropped or not known",
      [flow](PdfDocument& document, std::size_t i) { draw_blocks(flow.pages[i], document.canvas(), kTop + 42); });
}

std::vector<std::string> note_texts(const Notes& notes) {
  std::vector<std::string> texts;
  for (const Note* const note : document::by_gravity(notes)) {
    std::string text = note->severity == Severity::info ? "" : std::string(to_text(note->severity)).append(": ");
    text.append(printable(note->text));
    if (note->count > 1) text += concat(" (", count_text(std::min<std::uint64_t>(note->count, INT64_MAX)), " times)");
    texts.push_back(std::move(text));
  }
  return texts;
}

double notes_height(const std::vector<std::string>& notes, Typesetter& type) {
  return notes.empty() ? 0 : kAbove + line_step(kNoteStyle) * static_cast<double>(lines_of(notes, type).size());
}

void draw_notes(const std::vector<std::string>& notes, Canvas& canvas, double y) {
  draw_prose(lines_of(notes, canvas.type()), canvas, kLeft, y + kAbove + kNoteStyle.size, kNoteStyle, kInk2);
}

}  // namespace snapdiff::render
