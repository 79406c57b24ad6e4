#pragma once

#include <string_view>
#include <vector>

#include "snapdiff/function_name.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff {

/// Folds the frames of libraries into the user's own frames that call them: what a library does inside is its caller's.
/// `frames` is leaf first. A stack without own code stays as it is. Returns the function that the first own frame calls
/// where a run of library frames was taken off the leaf, "" where nothing was; and "" of a node of PyTorch's backward
/// graph, whose name says all that a person can change.
inline std::string_view fold_library_frames(std::vector<FrameView>& frames) {
  std::size_t first = 0;
  while (first < frames.size() && frames[first].library) ++first;
  if (first == frames.size()) return {};
  const bool tells = first > 0 && autograd_node(frames[first].function).empty();
  const std::string_view called = tells ? frames[first - 1].function : std::string_view();
  std::erase_if(frames, [](const FrameView& frame) { return frame.library; });
  return called;
}

}  // namespace snapdiff
