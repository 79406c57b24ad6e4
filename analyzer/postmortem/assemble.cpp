#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/free_memory.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/postmortem/make_postmortem.hpp"
#include "analyzer/story/make_story.hpp"
#include "analyzer/trend/verdict.hpp"

namespace snapdiff::postmortem {
namespace {

/// Where the snapshots are moments of iterations, the culprits of a report on bytes in use are what these leave behind.
Status tell_iterations(std::span<const SnapshotRef> snapshots, const DiffOptions& view, GrowthReport& report) {
  constexpr std::string_view kLeft = "left_space";
  const auto has_left = [&](const SnapshotRef& ref) { return ref.snapshot->column(kLeft) != nullptr; };
  if (report.metric != "inuse_space" || !std::all_of(snapshots.begin(), snapshots.end(), has_left)) return ok();
  DiffOptions left_view = view;
  left_view.metric = kLeft;
  left_view.by = GroupBy::stack;
  Result<SeriesReport> series = diff::diff_series(snapshots, left_view);
  if (!series) return std::move(series).error();
  story::tell_iterations(report, trend::analyse(*std::move(series), std::nullopt));
  return ok();
}

Status add_growth(std::span<const SnapshotRef> snapshots, const Request& request, Postmortem& out) {
  DiffOptions view = request.view;
  view.by = GroupBy::stack;
  Result<TrendReport> trend = judge_series(snapshots, view, request.limit);
  if (!trend) return std::move(trend).error();
  out.trend = *std::move(trend);
  out.steps = out.trend.steps;
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

/// What the comparison remarks, then what the inputs do: each remark once, with the input where it is only one's.
void add_notes(std::span<const SnapshotRef> snapshots, Postmortem& out) {
  struct Remark {
    const Note* note;
    const SnapshotRef* first;
    std::size_t inputs;
    std::uint64_t count;
  };
  const auto told = [&](const Note& note) {
    const std::vector<Note>& all = out.growth().notes.all();
    return std::any_of(all.begin(), all.end(), [&](const Note& other) { return other.text == note.text; });
  };
  std::vector<Remark> remarks;
  for (const SnapshotRef& snapshot : snapshots) {
    for (const Note& note : snapshot.snapshot->facts.notes.all()) {
      if (told(note)) continue;
      const auto same = std::find_if(remarks.begin(), remarks.end(), [&](const Remark& remark) {
        return remark.note->text == note.text && remark.note->severity == note.severity;
      });
      if (same == remarks.end()) {
        remarks.push_back({&note, &snapshot, 1, note.count});
      } else {
        ++same->inputs;
        same->count += note.count;
      }
    }
  }
  out.notes.add_all(out.growth().notes);
  for (const Remark& remark : remarks) {
    const std::string where =
        remark.inputs == 1 ? remark.first->ref
                           : std::to_string(remark.inputs) + " of " + std::to_string(snapshots.size()) + " inputs";
    out.notes.add(remark.note->severity, where + ": " + remark.note->text, std::nullopt, remark.count);
  }
}

}  // namespace

Result<TrendReport> judge_series(std::span<const SnapshotRef> snapshots, const DiffOptions& view,
                                 std::optional<std::int64_t> limit, std::optional<double> floor,
                                 trend::Emptied emptied) {
  const auto diff_part = [&](std::span<const SnapshotRef> part) { return diff::diff_series(part, view, floor); };
  Result<TrendReport> trend = trend::judge_in_life(snapshots, diff_part, limit, floor, emptied);
  if (!trend) return trend;
  story::tell(*trend);
  const auto judged = snapshots.subspan(trend->left_out, trend->series.steps.size());
  if (Status told = tell_iterations(judged, view, trend->series.overall); !told) return std::move(told).error();
  return trend;
}

Result<GrowthReport> compare_pair(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& view) {
  Result<GrowthReport> report = diff::diff(baseline, current, view);
  if (!report) return report;
  if (report->rows.size() >= kParallelStacks) give_free_memory_back();
  story::tell(*report);
  const SnapshotRef pair[] = {baseline, current};
  if (Status told = tell_iterations(pair, view, *report); !told) return std::move(told).error();
  return report;
}

Result<Postmortem> assemble(std::span<const SnapshotRef> snapshots, Request request) {
  if (snapshots.size() < 2)
    return Error{ErrorCode::usage, "too few snapshots: found " + std::to_string(snapshots.size()) +
                                       ", expected at least 2; 'snapdiff top' shows one"};
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
  static_cast<PostmortemHead&>(out) = std::move(request);
  if (out.failure) story::tell_failure(out.trend.series.overall, *out.failure);
  add_notes(snapshots, out);
  return out;
}

}  // namespace snapdiff::postmortem
