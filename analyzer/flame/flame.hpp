#pragma once

#include <span>
#include <string_view>

#include "snapdiff/flame.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

/// The door of the flame room: stacks as one tree of callers and callees, for flame graphs.
namespace snapdiff::flame {

/// The tree of a comparison. A box is a frame below its callers, told apart by function name, else by
/// module (base name) and offset; its FrameView is that of the first row with it.
///
/// Width of a row: change = grew - shrank; baseline, current = that value without its sign; both =
/// baseline + grew, which for one stack is the larger value; growth = grew.
///
/// A stack without width has no box of its own; its figures are in those callers' boxes that have
/// one, and in the root. What a box's children do not hold of it was allocated in the frame itself,
/// or has no width.
///
/// Below the root also, where they are not 0: "[unattributed]" and "[filtered out]", the latter with
/// the rows of which every frame is hidden. The root's value, grew, shrank and error are the report's.
///
/// Errors: usage (the report is not by stack); limit (a sum does not fit in 64 bits); internal (rows
/// and total disagree).
Result<FlameTree> flame_tree(const GrowthReport& report, FlameWidth width);

/// The tree of one snapshot: its values are those of the current side, nothing is known of a
/// baseline. Width: the value without its sign. Errors as above.
Result<FlameTree> flame_tree(const TopReport& report);

/// The rows of one role, as a report of them alone.
struct RoleRows {
  std::string_view role;
  TopReport report;
};

/// The tree of one snapshot whose rows were split by role: below the root a box for each, named by it, with its stacks.
/// The root's value is the sum of theirs. Errors as above; usage for no parts.
Result<FlameTree> flame_tree(std::span<const RoleRows> parts);

/// The comparison of the rows of one role.
struct RoleGrowth {
  std::string_view role;
  GrowthReport report;
};

/// The same of two snapshots: a stack whose memory has another role now shrank in one and grew in the other.
Result<FlameTree> flame_tree(std::span<const RoleGrowth> parts, FlameWidth width);

}  // namespace snapdiff::flame
