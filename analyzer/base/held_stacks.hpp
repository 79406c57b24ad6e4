#pragma once

#include <cstdint>

#include "snapdiff/hash.hpp"

namespace snapdiff {

/// Stacks that another dictionary holds. Any number of threads may ask at once.
class HeldStacks {
 public:
  virtual ~HeldStacks() = default;

  virtual bool holds(const Hash128& stack) const = 0;
  /// Hint: holds(stack) follows soon.
  virtual void prefetch(const Hash128& stack) const = 0;
};

}  // namespace snapdiff
