#include "analyzer/render/paint/page_plan.hpp"

#include <algorithm>
#include <utility>

#include "snapdiff/concat.hpp"

namespace snapdiff::render {

Result<std::string> write_document(const PagePlan& plan, const DocumentText& text, Typesetter& type, Paper paper) {
  const std::string fonts = concat("fonts: ", type.sans(), ", ", type.mono());
  PdfDocument document(type, paper, {text.kind + text.program, text.version, fonts, text.created_at_ns},
                       static_cast<int>(plan.pages().size()));
  int parent = 0;
  std::string section;
  for (const PlannedPage& page : plan.pages()) {
    document.begin_page({text.program, page.title, page.question, page.foot.empty() ? text.foot : page.foot});
    const std::string here = std::string("p").append(std::to_string(document.page()));
    if (page.section.empty()) parent = 0;
    if (!page.section.empty() && page.section != section) parent = document.bookmark(0, page.section, here);
    section = page.section;
    if (page.listed) document.bookmark(parent, page.title, here);
    if (Status status = page.draw(document); !status) return std::move(status).error();
    document.end_page();
  }
  return document.finish();
}

Flow flow_over_pages(std::vector<Block> blocks, double room, std::size_t most) {
  Flow flow;
  double used = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    // What must stay together: titles and the block after them.
    double needed = blocks[i].height;
    for (std::size_t k = i; blocks[k].keep_with_next && k + 1 < blocks.size(); ++k) needed += blocks[k + 1].height;
    if (flow.pages.empty() || (used > 0 && used + needed > room)) {
      if (flow.pages.size() == most) {
        const auto titles = std::count_if(blocks.begin() + static_cast<std::ptrdiff_t>(i), blocks.end(),
                                          [](const Block& block) { return block.keep_with_next; });
        flow.dropped = blocks.size() - i - static_cast<std::size_t>(titles);
        return flow;
      }
      flow.pages.emplace_back();
      used = 0;
    }
    used += blocks[i].height;
    flow.pages.back().push_back(std::move(blocks[i]));
  }
  return flow;
}

double draw_blocks(const std::vector<Block>& blocks, Canvas& canvas, double y) {
  for (const Block& block : blocks) {
    block.draw(canvas, y);
    y += block.height;
  }
  return y;
}

}  // namespace snapdiff::render
