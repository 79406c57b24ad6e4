#pragma once

#include <optional>
#include <span>
#include <string>

#include "analyzer/diff/row_names.hpp"
#include "snapdiff/counters.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

/// The public header of the diff module: growth per stack between a baseline and a current snapshot. Works on
/// models in memory, wherever they came from.
namespace snapdiff::diff {

/// Growth from `baseline` to `current`.
/// Errors: incompatible (no common metric, or none in bytes: the message lists the types), usage
/// (bad regular expression, unknown metric), limit (a sum leaves 64 bits), internal (conservation).
Result<GrowthReport> diff(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options);

/// Totals per step and the first -> last view with the values of every row at each snapshot.
/// Needs at least two snapshots. Counts of objects are kept of rows whose values range over
/// `object_floor` at least, by default kFloorShare of the largest snapshot; with one given, two
/// snapshots are a series too.
Result<SeriesReport> diff_series(std::span<const SnapshotRef> snapshots, const DiffOptions& options,
                                 std::optional<double> object_floor = {});

Result<TopReport> top(const SnapshotRef& snapshot, const DiffOptions& options);

/// Callers and callees of the functions whose name matches `regex`.
Result<PeekReport> peek(const SnapshotRef& baseline, const SnapshotRef& current, const std::string& regex,
                        const DiffOptions& options);

/// Whether these snapshots hold numbers about the whole process and nothing else.
bool has_counters_only(std::span<const SnapshotRef> snapshots);

/// The counters of one or more snapshots, without verdicts. Errors: limit.
Result<CounterReport> diff_counters(std::span<const SnapshotRef> snapshots);

/// The metric that `options` means for these snapshots (product.md section 3, default metric).
Result<std::string> choose_metric(std::span<const SnapshotRef> snapshots, const std::string& wanted);

/// Conservation: rows + unattributed + filtered == total, in values and in objects, and the
/// parts (grew, shrank) agree. Errors: internal. diff() has already called it.
Status check_conservation(const GrowthReport& report);

}  // namespace snapdiff::diff
