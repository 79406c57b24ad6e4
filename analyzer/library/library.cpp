#include <utility>

#include "analyzer/diff/diff.hpp"
#include "analyzer/story/story.hpp"
#include "analyzer/trend/verdict.hpp"
#include "formats/registry.hpp"
#include "snapdiff/frame_text.hpp"
#include "snapdiff/function_name.hpp"
#include "snapdiff/snapdiff.hpp"

namespace snapdiff {

Result<std::vector<SnapshotRef>> read_snapshots(const std::string& path, const std::string& format) {
  formats::ReadOptions options;
  options.format = format;
  Result<std::vector<Snapshot>> read = formats::read_file(path, options);
  if (!read) return std::move(read).error();
  std::vector<SnapshotRef> refs;
  for (Snapshot& snapshot : *read) {
    const std::string ref = read->size() > 1 ? path + "@" + std::to_string(refs.size() + 1) : path;
    refs.push_back({std::make_shared<const Snapshot>(std::move(snapshot)), ref, ""});
  }
  return refs;
}

Result<GrowthReport> compare(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options) {
  Result<GrowthReport> report = diff::diff(baseline, current, options);
  if (report) story::tell(*report);
  return report;
}

Result<SeriesReport> compare_series(std::span<const SnapshotRef> snapshots, const DiffOptions& options) {
  return diff::diff_series(snapshots, options);
}

Result<TrendReport> judge(std::span<const SnapshotRef> snapshots, const DiffOptions& options,
                          std::optional<std::int64_t> limit) {
  if (snapshots.size() < 3)
    return Error{ErrorCode::usage,
                 "too few snapshots for a trend: found " + std::to_string(snapshots.size()) + ", expected at least 3"};
  Result<TrendReport> trend = trend::judge_since_restart(
      snapshots, [&](std::span<const SnapshotRef> part) { return diff::diff_series(part, options); }, limit);
  if (trend) story::tell(*trend);
  return trend;
}

std::string frame_text(const FrameView& frame) {
  return frame.function.empty() ? address_text(frame) : short_function_name(frame.function);
}

}  // namespace snapdiff
