#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/render/pages/postmortem_pages.hpp"
#include "analyzer/render/paint/prose_lines.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

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

/// What the comparison could not put into a row, or left out.
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
  lines.push_back({"addresses without a name",
                   count_text(static_cast<std::int64_t>(std::min<std::uint64_t>(unnamed.unnamed, 1ULL << 62))),
                   unnamed.unnamed == 0 ? std::string("every frame of the last snapshot has a name")
                                        : concat("of ", counted(unnamed.addresses, "address"),
                                                 " in the last snapshot; ", q.value(unnamed.value),
                                                 " in stacks that hold one. Binaries or symbol files can name them"),
                   unnamed.unnamed == 0});
  lines.push_back({"listed at one end only", count_text(static_cast<std::int64_t>(report.listed_once.size())),
                   report.listed_once.empty() ? std::string("no stack is missing on one side of a list that is cut")
                                              : concat("stacks whose growth nobody knows, because the source leaves "
                                                       "rows out; in no row and in no total: ",
                                                       change_text(report.listed_once_value, q)),
                   report.listed_once.empty()});
  lines.push_back({"possible pairs",
                   count_text(static_cast<std::int64_t>(std::min<std::uint64_t>(report.possible_pairs, 1ULL << 62))),
                   "stacks on one side only that are alike, but not alike enough to be compared",
                   report.possible_pairs == 0});
  const bool known = std::isfinite(report.total_error) && report.total_error < 9e18;
  lines.push_back({"\u00b1 of the total",
                   report.exact                ? "0"
                   : known && report.has_error ? q.value(std::llround(report.total_error))
                                               : "n/a",
                   report.exact        ? "every allocation was recorded"
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
            const auto times = static_cast<std::int64_t>(std::min<std::uint64_t>(count, 1ULL << 62));
            canvas.text(kRight, y + 10.4, count_text(times).append("\u00d7"), {8}, kInk2, Align::right);
            canvas.rule(kLeft, kRight, y + height, kLine, 0.4);
          }};
}

std::vector<Block> unknown_blocks(PostmortemPages& pages) {
  std::vector<Block> blocks;
  std::vector<const Note*> notes;
  for (const Note& note : pages.report.notes.all()) notes.push_back(&note);
  std::ranges::stable_sort(notes, [](const Note* a, const Note* b) { return a->severity > b->severity; });
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

}  // namespace

void plan_unknown(PostmortemPages& pages) {
  const Flow flow = flow_over_pages(unknown_blocks(pages), kBottom - 10 - (kTop + 42), 2);
  pages.plan.add_each(
      flow.pages.size(), "unknown", "What was dropped or is not known", "Dropped or not known, continued",
      "What is missing from the figures?", "Dropped or not known",
      [flow](PdfDocument& document, std::size_t i) { draw_blocks(flow.pages[i], document.canvas(), kTop + 42); });
}

}  // namespace snapdiff::render
