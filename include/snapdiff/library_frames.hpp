#pragma once

#include <string_view>
#include <vector>

#include "snapdiff/growth.hpp"

namespace snapdiff {

/// Folds the frames of libraries into the user's own frames that call them: what a library does inside is its caller's.
/// `frames` is leaf first. A stack without own code stays as it is. Returns the function that the first own frame calls
/// where a run of library frames was taken off the leaf, "" where nothing was.
inline std::string_view fold_library_frames(std::vector<FrameView>& frames) {
  std::size_t first = 0;
  while (first < frames.size() && frames[first].library) ++first;
  if (first == frames.size()) return {};
  const std::string_view called = first == 0 ? std::string_view() : frames[first - 1].function;
  std::erase_if(frames, [](const FrameView& frame) { return frame.library; });
  return called;
}

}  // namespace snapdiff
