#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

/// The rows of a comparison by the stacks that are in them.
namespace snapdiff::diff {

/// By StackId of each snapshot; kNone: in no row.
struct StackRows {
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t> baseline, current;
};

/// The rows that diff() makes of whole stacks. Nothing where each distinct stack is a row: of one build. Errors: as
/// diff().
Result<std::optional<StackRows>> rows_of_stacks(const SnapshotRef& baseline, const SnapshotRef& current);

}  // namespace snapdiff::diff
