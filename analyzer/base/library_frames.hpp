#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/base/frame_kind.hpp"
#include "analyzer/base/function_name.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff {

/// The name of the library frames below an own frame, leaf first: the function that it calls, but code
/// that a compiler wrote at run time has unknown names. `frames` is not empty.
inline std::string_view called_name(std::span<const FrameView> frames) {
  const auto is_generated = [](const FrameView& frame) { return is_generated_file(frame.file); };
  return std::any_of(frames.begin(), frames.end(), is_generated) ? "compiled" : frames.back().function;
}

/// Folds the frames of libraries into the user's own frames that call them: what a library does inside is its caller's.
/// `frames` is leaf first. A stack without own code stays as it is. Returns the function that the first own frame calls
/// where a run of library frames was taken off the leaf, "" where nothing was; and "" of a node of PyTorch's backward
/// graph, whose name says all that a person can change.
inline std::string_view fold_library_frames(std::vector<FrameView>& frames) {
  std::size_t first = 0;
  while (first < frames.size() && frames[first].library) ++first;
  if (first == frames.size()) return {};
  const bool tells = first > 0 && autograd_node(frames[first].function).empty();
  const std::string_view called =
      tells ? called_name(std::span<const FrameView>(frames).first(first)) : std::string_view();
  std::erase_if(frames, [](const FrameView& frame) { return frame.library; });
  return called;
}

}  // namespace snapdiff
