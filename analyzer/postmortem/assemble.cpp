#include <utility>
#include <vector>

#include "analyzer/diff/diff.hpp"
#include "analyzer/postmortem/postmortem.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::postmortem {
namespace {

Status add_growth(std::span<const SnapshotRef> snapshots, const Request& request, Postmortem& out) {
  DiffOptions view = request.view;
  view.by = GroupBy::stack;
  // The first view is of all snapshots: its steps are kept where a restart leaves some of them out.
  const auto diff_part = [&](std::span<const SnapshotRef> part) {
    Result<SeriesReport> series = diff::diff_series(part, view);
    if (series && out.steps.empty()) out.steps = series->steps;
    return series;
  };
  Result<TrendReport> trend = trend::judge_since_restart(snapshots, diff_part, request.limit);
  if (!trend) return std::move(trend).error();
  out.trend = *std::move(trend);
  view.by = GroupBy::function;
  Result<GrowthReport> functions = diff::diff(out.growth().baseline, out.growth().current, view);
  if (!functions) return std::move(functions).error();
  out.by_function = *std::move(functions);
  return ok();
}

void name_ends(std::span<const SnapshotRef> snapshots, Postmortem& out) {
  for (const SnapshotRef& snapshot : snapshots) {
    SeriesStep step;
    step.snapshot = snapshot;
    out.steps.push_back(std::move(step));
  }
  out.trend.series.steps = out.steps;
  out.trend.series.overall.baseline = snapshots.front();
  out.trend.series.overall.current = snapshots.back();
  out.by_function = out.growth();
}

bool any_counters(std::span<const SnapshotRef> snapshots) {
  for (const SnapshotRef& snapshot : snapshots) {
    if (!snapshot.snapshot->facts.counters.empty()) return true;
  }
  return false;
}

}  // namespace

Result<Postmortem> assemble(std::span<const SnapshotRef> snapshots, Request request) {
  if (snapshots.size() < 2)
    return Error{ErrorCode::usage,
                 "too few snapshots: found " + std::to_string(snapshots.size()) + ", expected at least 2"};
  Postmortem out;
  if (diff::has_counters_only(snapshots)) {
    name_ends(snapshots, out);
  } else if (Status added = add_growth(snapshots, request, out); !added) {
    return std::move(added).error();
  }
  if (any_counters(snapshots)) {
    Result<CounterReport> counters = diff::diff_counters(snapshots);
    if (!counters) return std::move(counters).error();
    trend::judge_counters(*counters);
    out.counters = *std::move(counters);
  }
  out.title = std::move(request.title);
  out.version = std::move(request.version);
  out.order_note = std::move(request.order_note);
  out.created_at_ns = request.created_at_ns;
  out.pins = std::move(request.pins);
  out.failure = std::move(request.failure);
  out.notes = std::move(request.notes);
  for (const SnapshotRef& snapshot : snapshots) {
    for (const Note& note : snapshot.snapshot->facts.notes.all())
      out.notes.add(note.severity, snapshot.ref + ": " + note.text, note.first_offset, note.count);
  }
  out.notes.add_all(out.growth().notes);
  return out;
}

}  // namespace snapdiff::postmortem
