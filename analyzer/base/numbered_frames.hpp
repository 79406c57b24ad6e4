#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "snapdiff/growth.hpp"

namespace snapdiff {

/// A view of stacks that also numbers its frames, for tables of millions of rows: a frame of many stacks has one
/// number, so that its texts are made once. Any number of threads may ask at once.
class NumberedFrames {
 public:
  virtual ~NumberedFrames() = default;
  /// The same as StackView::frames(), as numbers below frame_count(), into `out` (cleared before). False if the frames
  /// of this stack depend on one another: ask StackView::frames() for it.
  virtual bool frame_numbers(StackRef stack, std::vector<std::uint32_t>& out) const = 0;
  virtual std::size_t frame_count() const = 0;
  /// Of a number; inlined and library as frames() has them.
  virtual FrameView frame(std::uint32_t number) const = 0;
};

}  // namespace snapdiff
