#include "analyzer/render/paint/page_flow.hpp"

#include <algorithm>
#include <utility>

namespace snapdiff::render {

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
