#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "snapdiff/growth.hpp"

namespace snapdiff {

/// A view of stacks that also numbers its frames, for tables of millions of rows: a frame of many stacks has one
/// number, so that its texts are made once. Any number of threads may ask at once.
class NumberedFrames {
 public:
  virtual ~NumberedFrames() = default;
  /// What `lengths` holds for a stack whose frames depend on one another: ask StackView::frames() for it.
  static constexpr std::uint32_t kDependent = 0xffffffff;
  /// The same as StackView::frames() of each stack, as numbers below frame_count(): one stack after another in `out`,
  /// the number of its frames in `lengths` (both are cleared before). A few dozen stacks at a time, which may lie
  /// anywhere in memory, cost little more than neighbours.
  virtual void frame_numbers(std::span<const StackRef> stacks, std::vector<std::uint32_t>& out,
                             std::vector<std::uint32_t>& lengths) const = 0;
  virtual std::size_t frame_count() const = 0;
  /// Of a number; inlined and library as frames() has them.
  virtual FrameView frame(std::uint32_t number) const = 0;
};

}  // namespace snapdiff
