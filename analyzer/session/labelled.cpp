#include "analyzer/session/labelled.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"

namespace snapdiff::session {
namespace {

Status add_roles(SnapshotRef& ref) {
  Result<std::optional<Snapshot>> with = cuda::with_roles(*ref.snapshot);
  if (!with) return std::move(with).error();
  if (*with) ref.snapshot = std::make_shared<const Snapshot>(**std::move(with));
  return ok();
}

}  // namespace

Result<Labelled> labelled(std::span<const SnapshotRef> snapshots, const DiffOptions& options) {
  Labelled out{{snapshots.begin(), snapshots.end()}, options};
  const auto calls = [](const SnapshotRef& ref) { return cuda::calls_modules(*ref.snapshot); };
  if (is_by_role(options)) {
    for (SnapshotRef& ref : out.snapshots) {
      if (Status added = add_roles(ref); !added) return std::move(added).error();
    }
  } else if (options.by == GroupBy::module && std::any_of(snapshots.begin(), snapshots.end(), calls)) {
    out.options.by = GroupBy::label;
    out.options.label_key = cuda::kModuleLabel;
    for (SnapshotRef& ref : out.snapshots)
      ref.snapshot = std::make_shared<const Snapshot>(cuda::with_modules(*ref.snapshot));
  }
  return out;
}

Result<TopReport> top_of(const SnapshotRef& snapshot, const DiffOptions& options) {
  const Result<Labelled> view = labelled({&snapshot, 1}, options);
  if (!view) return view.error();
  return diff::top(view->snapshots.front(), view->options);
}

}  // namespace snapdiff::session
