#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/growth.hpp"

/// The stacks of both sides of a comparison as one tree, for flame graphs (algorithms.md section 9).
namespace snapdiff {

/// What the width of a box stands for.
///   change    growth plus shrinkage: left part gone, right part new; every stack that changed is there
///   current   the value of the newer side; of a single snapshot
enum class FlameWidth : std::uint8_t { change, current };

/// One box: a frame below its callers. All figures are of the stacks through it, each counted once.
///   parent    index of the caller's box, which comes before it; box 0 is the root and its own parent
///   name      row of FlameTree::frames; of the root unused
///   weight    by FlameTree::width; children's weights add up to no more than their parent's
///   grew, shrank  sums over growing and shrinking stacks, >= 0 and <= 0
///   error     one standard deviation of the growth; 0 exact, NaN unknown
struct FlameBox {
  std::uint32_t parent = 0;
  std::uint32_t name = 0;
  std::uint32_t depth = 0;
  std::uint64_t weight = 0;
  Change value;
  std::int64_t grew = 0, shrank = 0;
  double error = 0;
};

/// Boxes in preorder, siblings by weight, then by name. Sums of stacks that have no frame to show
/// ([unattributed], filtered) are boxes below the root with their pseudo names, so that the root's
/// value is the report's total, exactly.
struct FlameTree {
  FlameWidth width = FlameWidth::change;
  std::vector<FlameBox> boxes;
  std::vector<FrameView> frames;  ///< views live as long as the report's snapshots
  bool by_role = false;           ///< the boxes below the root are roles (role_names.hpp), each with its stacks
  std::string metric, unit;
  std::uint32_t depth = 0;  ///< of the deepest box
};

}  // namespace snapdiff
