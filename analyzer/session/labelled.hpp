#pragma once

#include <span>
#include <vector>

#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::session {

/// What is compared, and how.
struct Labelled {
  std::vector<SnapshotRef> snapshots;
  DiffOptions options;
};

/// Views of CUDA snapshots by what their rows do not say as they are read; everything else stays as it is.
///   --by module  of a program that calls modules of PyTorch means those (cuda::with_modules()), not shared objects
///   --by role    of a snapshot as it was saved (cuda::with_roles())
/// Errors: those of reading a trace.
Result<Labelled> labelled(std::span<const SnapshotRef> snapshots, const DiffOptions& options);

inline bool is_by_role(const DiffOptions& options) {
  return options.by == GroupBy::label && options.label_key == "role";
}

/// diff::top() of that.
Result<TopReport> top_of(const SnapshotRef& snapshot, const DiffOptions& options);

}  // namespace snapdiff::session
