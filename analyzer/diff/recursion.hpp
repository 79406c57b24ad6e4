#pragma once

#include <span>
#include <vector>

#include "snapdiff/ids.hpp"

/// Stacks that differ only in how deep they recurse are one stack to a reader.
namespace snapdiff::diff {

/// Whether fold_recursion() could shorten this stack; false for most, and fast.
bool may_recurse(std::span<const FrameId> frames);

/// Takes out runs of up to four frames that repeat the run right before them: a b b b c -> a b c,
/// a b c b c d -> a b c d. `out` is overwritten.
void fold_recursion(std::span<const FrameId> frames, std::vector<FrameId>& out);

}  // namespace snapdiff::diff
