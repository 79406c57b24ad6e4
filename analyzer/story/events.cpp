#include <algorithm>
#include <cmath>

#include "analyzer/base/first_notes.hpp"
#include "analyzer/story/story_parts.hpp"

namespace snapdiff::story {
namespace {

/// Two snapshots of one program share far more than this part of their bytes; below it most figures of a comparison
/// only say that the one heap is not the other.
constexpr double kShared = 0.05;
constexpr std::size_t kRowsToCompare = 10;  // of either side: of fewer stacks all may be new

/// Of the whole snapshots: what a filter left out may be what they share.
bool share_nothing(const GrowthReport& report) {
  const DiffOptions& options = report.options;
  const bool whole = options.focus.empty() && options.ignore.empty();
  if (options.by != GroupBy::stack || !whole || report.series_length > 2) return false;
  double before = 0, after = 0, kept = 0, still = 0;
  std::size_t rows_before = 0, rows_after = 0;
  for (const GrowthRow& row : report.rows) {
    const auto baseline = std::abs(static_cast<double>(row.value.baseline));
    const auto current = std::abs(static_cast<double>(row.value.current));
    before += baseline;
    after += current;
    rows_before += baseline > 0 ? 1U : 0U;
    rows_after += current > 0 ? 1U : 0U;
    if (baseline > 0 && current > 0) {
      kept += baseline;
      still += current;
    }
  }
  return rows_before >= kRowsToCompare && rows_after >= kRowsToCompare && kept < kShared * before &&
         still < kShared * after;
}

}  // namespace

std::vector<Event> events_of(const GrowthReport& report) {
  std::vector<Event> out;
  for (const SnapshotRef* ref : {&report.baseline, &report.current}) {
    if (ref->snapshot == nullptr || !ref->snapshot->facts.partial) continue;
    Writer text;
    text.snapshot(*ref) << " was read in part: what is missing looks freed or not yet allocated";
    out.push_back({Event::Kind::partial, "An input is damaged", text.take()});
  }
  const std::vector<Note>& notes = report.notes.all();
  const auto nothing =
      std::find_if(notes.begin(), notes.end(), [](const Note& note) { return is_unrelated(note.text); });
  if (nothing != notes.end()) {
    out.push_back({Event::Kind::unrelated, nothing->text, {}});
  } else if (share_nothing(report)) {
    const bool strictly = report.options.match_strictly;
    out.push_back(
        {Event::Kind::unrelated,
         strictly ? "Hardly a stack is recorded alike in both" : "The snapshots have almost nothing in common",
         prose_of(
             "less than ", percent_of(kShared), " of the bytes of either snapshot are in a stack of the other: ",
             strictly ? "without --match strict those of another build are matched" : "are they of one program?")});
  }
  return out;
}

Event event_of(const OutOfMemory& failure) {
  const std::string asked = sized(failure.asked);
  return {Event::Kind::out_of_memory, "Out of memory: " + asked + " on device " + std::to_string(failure.device),
          prose_of("an allocation of ", asked, " failed on device ", failure.device,
                   failure.sentence.empty() ? "" : ": ", failure.sentence)};
}

Event restart_event(const TrendReport& trend) {
  const std::size_t last = trend.left_out + trend.series.steps.size();
  const SeriesStep& step = trend.steps[trend.left_after > 0 ? last : trend.left_out];
  const bool ended = trend.left_after > 0 && trend.lives.back().size() == trend.left_after && !step.other_process;
  Writer text;
  text << "judged " << (trend.left_after > 0 ? "up to" : "from") << " snapshot" << kPageNumbers.before_unit
       << (trend.left_after > 0 ? last : trend.left_out + 1) << (trend.left_after > 0 ? ": " : " on: ")
       << trend.restart;
  if (trend.left_after > 0 && !ended) text << ", too few snapshots since";
  return {Event::Kind::restart,
          step.other_process                    ? "The process restarted"
          : ended                               ? "The total collapsed at the end"
          : trend.restart.starts_with("total ") ? "The total collapsed"
                                                : "The process may have restarted",
          text.take()};
}

}  // namespace snapdiff::story
