#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/snapshot.hpp"
#include "snapdiff/trend.hpp"

/// The library: what the program does with files, for programs of your own.
///
///   find_package(snapdiff REQUIRED)
///   target_link_libraries(mine PRIVATE snapdiff::snapdiff)
///
/// Nothing here prints, throws or keeps state; any number of threads may call.
namespace snapdiff {

#define SNAPDIFF_API __attribute__((visibility("default")))

/// The snapshots in a file ("-" is standard input), oldest first; `format` as `snapdiff formats` lists
/// them, "" to detect it. Their ref is the path.
/// Errors: io, malformed, unsupported, incompatible, limit; `subject` is `path`.
SNAPDIFF_API Result<std::vector<SnapshotRef>> read_snapshots(const std::string& path, const std::string& format = {});

/// Growth per stack between two snapshots.
/// Errors: incompatible (no common metric), usage (bad option), limit, internal (conservation).
SNAPDIFF_API Result<GrowthReport> compare(const SnapshotRef& baseline, const SnapshotRef& current,
                                          const DiffOptions& options = {});

/// Totals per step, and first -> last with the value of each row at each snapshot. Two snapshots or more.
SNAPDIFF_API Result<SeriesReport> compare_series(std::span<const SnapshotRef> snapshots,
                                                 const DiffOptions& options = {});

/// Verdicts over the snapshots since the last restart, and when `limit` will be met. Three or more.
SNAPDIFF_API Result<TrendReport> judge(std::span<const SnapshotRef> snapshots, const DiffOptions& options = {},
                                       std::optional<std::int64_t> limit = std::nullopt);

/// For printing: a function's name without arguments and template arguments beyond depth 1; without a
/// name "module+0x1234".
SNAPDIFF_API std::string frame_text(const FrameView& frame);

}  // namespace snapdiff
