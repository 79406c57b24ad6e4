#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/base/retention.hpp"
#include "analyzer/trend/verdict.hpp"
#include "snapdiff/counters.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/opened.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/trend.hpp"

/// The comparisons that are printed and drawn, with what they say (analyzer/story).
namespace snapdiff::session {

/// A series judged within one life of its process. Errors: as of diff::diff_series().
Result<TrendReport> judge_series(std::span<const SnapshotRef> snapshots, const DiffOptions& options,
                                 std::optional<std::int64_t> limit = {}, std::optional<double> floor = {},
                                 trend::Emptied emptied = trend::Emptied::may_be_a_cache);

/// Two snapshots. Errors: those of diff::diff().
Result<GrowthReport> compare_pair(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options);

/// The same with how the peaks of traces differ: snapshots of a training loop are alike at the end however much their
/// peaks differ.
Result<GrowthReport> compare_two(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options);

/// How a series is judged.
///   loops   each snapshot follows so many round trips that should leave nothing
///   triple  baseline, target, final: what the target added and the final snapshot still holds
/// With one of them it is judged as it was made, from its first snapshot on; else since its last restart.
struct TrendRequest {
  std::optional<std::int64_t> limit;
  std::optional<std::int64_t> floor;
  std::optional<std::int64_t> loops;
  bool triple = false;
};
Result<TrendReport> find_trend(const Loaded& loaded, const DiffOptions& options, const TrendRequest& wanted);

/// Growth and verdict of every counter; of one snapshot the values. Errors: limit.
Result<CounterReport> judged_counters(std::span<const SnapshotRef> snapshots, std::optional<std::int64_t> limit = {});

/// What types keep alive and where they are held, where both ends are object graphs; the story stands without it. The
/// functions above have called it.
void tell_objects(GrowthReport& report, const TimeAxis* axis = nullptr);

/// Adds the bytes that allocators of devices reserve beyond those in use. The functions above have called it.
void tell_reserved(GrowthReport& report);

/// The containers that keep more, of a report whose ends have object graphs; `alone`: that hold most of its last one.
/// Errors: limit.
Result<OwnerReport> owners_of(const GrowthReport& report, bool alone = false);
/// The same of any two object graphs; without a baseline of the last one alone.
Result<OwnerReport> owners_between(const SnapshotRef& baseline, const SnapshotRef& current);

/// Types of one object graph or several, oldest first, and what they keep alive; with the containers that keep more.
Result<RetainedReport> retained_with_owners(const std::vector<SnapshotRef>& refs);

}  // namespace snapdiff::session
