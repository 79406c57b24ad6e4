#include <array>
#include <string_view>
#include <utility>

#include "analyzer/render/pages/postmortem_pages.hpp"
#include "analyzer/render/paint/prose_lines.hpp"

namespace snapdiff::render {
namespace {

struct Term {
  std::string_view word, meaning;
};

constexpr std::array kTerms = {
    Term{"snapshot",
         "What was live in a heap at one moment, by the stacks that allocated it; or counters of a process at "
         "one moment."},
    Term{"growth", "The value at the last snapshot minus that at the first. Negative growth is shrinkage."},
    Term{"stack",
         "The chain of calls that led to an allocation. Allocated through a frame does not mean kept alive by it."},
    Term{"row",
         "All allocations of one stack, or of one function. Rows, others, unattributed and filtered add up to TOTAL."},
    Term{"culprit",
         "A function of the user\u2019s own code in which, or below which, memory was allocated that belongs together. "
         "A place to look at, not a proof."},
    Term{"allocated here",
         "By the function itself, not by functions it calls; flat. Through: with all it calls; cumulative."},
    Term{"critical path", "In the graph: the bold column that follows the heavier side at each frame."},
    Term{"hidden",
         "Nodes or frames that were left out of a drawing. Their bytes are in its sum: drawn + hidden = total."},
    Term{"[unattributed]", "Bytes of the total that the input gives no stack for."},
    Term{"[others]", "Rows that a table has no room for, as one line."},
    Term{"filtered", "Stacks that the options of the comparison left out. They are in TOTAL."},
    Term{"\u00b1",
         "One standard deviation of the growth by sampling, or by rounding. 0: every allocation was recorded. n/a: "
         "not recorded. ~: less than 2 \u00b1, may be chance."},
    Term{"matched",
         "How a stack of one snapshot was matched with one of another, from surest to weakest: build id and offset, "
         "module and offset, function and line, function and file, normalised names, similarity."},
    Term{"GROWING", "Rises in every part of the series, by more than its noise, and does not level off."},
    Term{"RISING", "Rises, but there are too few snapshots to say more."},
    Term{"SATURATING", "Rises ever more slowly, towards a level: what a cache does while it warms up."},
    Term{"STEP", "Rose once and is level since."},
    Term{"NEW, GONE", "Not there at first, or no longer at the end."},
    Term{"SHRINKING", "Falls in every part of the series."},
    Term{"NOISY", "Changes, without a significant trend."},
    Term{"FLAT",
         "Does not change. What changes by less than 0.2\u2009% of the largest snapshot is minor and has no word."},
    Term{"restart",
         "The process restarted: its total collapsed, or its identity changed. Only what came after is judged."},
    Term{"hint", "A known pattern that the evidence fits. It says what that usually is, never that it is so here."},
};
constexpr std::array kDeviceTerms = {
    Term{"segment",
         "Memory that the caching allocator took from the device in one piece; it goes back only when no block in it "
         "is in use."},
    Term{"pinned",
         "Free bytes in a segment that cannot go back because blocks in it are in use, shared out over these."},
    Term{"pending", "Freed blocks that wait for another stream."},
};

constexpr TextStyle kMeaningText{8.6};
constexpr double kTermWidth = 92;

Block term_block(PostmortemPages& pages, const Term& term) {
  auto lines = wrap_prose({{std::string(term.meaning)}}, pages.type, kMeaningText, kWidth - kTermWidth, 4);
  const double height = line_step(kMeaningText) * static_cast<double>(lines.size()) + 5.5;
  return {height, [lines = std::move(lines), word = term.word](Canvas& canvas, double y) {
            canvas.text_cut(kLeft, y + 10, word, {8.4, FontWeight::semibold}, kInk, kTermWidth - 6);
            draw_prose(lines, canvas, kLeft + kTermWidth, y + 10, kMeaningText, kInk);
          }};
}

}  // namespace

void plan_glossary(PostmortemPages& pages) {
  std::vector<Block> blocks;
  blocks.reserve(kTerms.size() + 1);
  for (const Term& term : kTerms) blocks.push_back(term_block(pages, term));
  if (pages.report.pins || pages.report.failure || !pages.memory.pages.empty()) {
    for (const Term& term : kDeviceTerms) blocks.push_back(term_block(pages, term));
  }
  const Flow flow = flow_over_pages(std::move(blocks), kBottom - 8 - (kTop + 48), 2);
  pages.plan.add_each(
      flow.pages.size(), "glossary", "Glossary", "Glossary, continued", "What do the words mean?", "",
      [flow](PdfDocument& document, std::size_t i) { draw_blocks(flow.pages[i], document.canvas(), kTop + 48); });
}

}  // namespace snapdiff::render
