#pragma once

#include <functional>
#include <vector>

#include "analyzer/render/paint/canvas.hpp"

/// Content of unknown length, divided over pages.
namespace snapdiff::render {

/// A part that stays on one page. `draw` gets the upper edge.
struct Block {
  double height = 0;
  std::function<void(Canvas&, double y)> draw;
  bool keep_with_next = false;  ///< a title: never the last of a page
};

/// Blocks by page, each page `room` high. At most `most` pages: what is left is dropped, and `dropped` says how many
/// blocks that are.
struct Flow {
  std::vector<std::vector<Block>> pages;
  std::size_t dropped = 0;
};
Flow flow_over_pages(std::vector<Block> blocks, double room, std::size_t most);

/// Draws one page's blocks from `y` down; returns the lower edge.
double draw_blocks(const std::vector<Block>& blocks, Canvas& canvas, double y);

}  // namespace snapdiff::render
