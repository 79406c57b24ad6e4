#pragma once

#include <string>

#include "analyzer/base/frame_text.hpp"
#include "snapdiff/flame.hpp"

namespace snapdiff::test {

inline std::string box_name(const FlameTree& tree, std::size_t i) {
  if (i == 0) return "all";
  const FrameView& frame = tree.frames[tree.boxes[i].name];
  return frame.function.empty() ? address_text(frame) : std::string(frame.function);
}

/// A line per box: indented name, weight, value before and after, grew, shrank.
inline std::string as_text(const FlameTree& tree) {
  std::string out;
  for (std::size_t i = 0; i < tree.boxes.size(); ++i) {
    const FlameBox& box = tree.boxes[i];
    out.append(box.depth, ' ').append(box_name(tree, i));
    out.append(" w").append(std::to_string(box.weight));
    out.append(" ").append(std::to_string(box.value.baseline)).append(">").append(std::to_string(box.value.current));
    out.append(" +").append(std::to_string(box.grew)).append(" ").append(std::to_string(box.shrank)).append("\n");
  }
  return out;
}

}  // namespace snapdiff::test
