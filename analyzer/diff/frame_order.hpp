#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/diff/row_order.hpp"
#include "analyzer/diff/side.hpp"
#include "analyzer/diff/visibility.hpp"

namespace snapdiff::diff {

/// The order of stacks by text: frame by frame from the leaf, each by function name, file and
/// line, unsymbolized ones (which come first) by module base name, build id and offset; a
/// stack before its continuations. Frames get ranks once, so that stacks compare as integers.
class FrameOrder {
 public:
  explicit FrameOrder(std::span<const std::shared_ptr<const Visibility>> dictionaries);

  /// From 1 on; equal for frames of equal text.
  std::uint32_t rank(std::uint32_t dictionary, FrameId frame) const { return rank_[dictionary][index_of(frame)]; }

  /// Negative, 0 or positive, from frame `depth` on.
  int compare(const VisibleFrames& a, const VisibleFrames& b, std::size_t depth = 0) const;

  /// Sorts the numbers of stacks by their text; equal ones stay in the given order.
  void sort(std::span<std::uint32_t> stacks, std::span<const VisibleFrames> frames) const;

 private:
  /// Stacks begin .. end - 1 of those to be sorted, which are equal up to frame `depth`.
  struct Range {
    std::size_t begin, end, depth;
  };
  std::vector<Range> sort_two_frames(const Range& range, std::span<std::uint32_t> stacks,
                                     std::span<const VisibleFrames> frames, std::vector<SortItem>& items) const;
  void sort_range(const Range& whole, std::span<std::uint32_t> stacks, std::span<const VisibleFrames> frames) const;

  std::vector<std::vector<std::uint32_t>> rank_;
};

}  // namespace snapdiff::diff
