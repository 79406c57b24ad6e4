#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "analyzer/base/retention.hpp"
#include "snapdiff/device_memory.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/story.hpp"
#include "snapdiff/trend.hpp"

/// The public header of the story module: what a comparison or a series says. README.md has the rules.
namespace snapdiff::story {

/// Fills `report.story` and `report.common_path` of a report by stack, or by anything else where
/// it has its by_stack. `verdicts`: of the rows by stack, empty where they were not judged; `axis`: null without times.
void tell(GrowthReport& report, std::span<const Verdict> verdicts = {}, const TimeAxis* axis = nullptr);

/// The same for a judged series.
void tell(TrendReport& trend);

/// Of snapshots that are at the same moment of each iteration of a training loop: the culprits are what iterations
/// leave behind, and nothing else is one. After tell() of `report`; `left` is the judged series of the same snapshots
/// by the metric left_space.
void tell_iterations(GrowthReport& report, const TrendReport& left);

/// What ended the process comes before all else. After tell().
void tell_failure(GrowthReport& report, const OutOfMemory& failure);

/// What fills a device at the fullest moment of its trace. `view` knows the stacks of `peak`, `no_stack` is the one
/// that stands for stack 0; Python frames alone where there are any read best. `operand`: of the trace, for commands.
PeakStory peak_story(MemoryPeak peak, std::shared_ptr<const StackView> view, StackId no_stack,
                     const SnapshotRef& operand);

/// The contents of one snapshot: `heap` has its rows by stack. `held`: how its bytes are held (" in use", " resident").
/// `owners`, where given, are its parts.
PeakStory held_story(MemoryPeak heap, std::string_view held, std::shared_ptr<const StackView> view, StackId no_stack,
                     const SnapshotRef& operand, const OwnerReport* owners);

/// What would have held less when an allocation failed, in place of the advice for the peak. `moment`: before it.
void advise_at_failure(PeakStory& peak, const MemoryPeak& moment, const OutOfMemory& failure);

/// Adds the peak to a story: one of what else is worth a line, beginning with kAtPeak; or, where the trace is no
/// series, all of what there is to say: its rows have no verdicts. The moments of the series may have the label `role`.
/// After tell().
inline constexpr std::string_view kAtPeak = "at the peak, ";
void tell_peak(TrendReport& trend, std::shared_ptr<const PeakStory> peak, bool is_series);

/// Of two snapshots with traces, compared as they were at the end: how far their peaks differ, and the command that
/// compares those, where they differ by more. After tell().
void tell_peaks(GrowthReport& report, const PeakStory& before, const PeakStory& after);

/// The same of their low points, cuda::memory_low(). Before tell_peaks(), whose line comes first.
void tell_lows(GrowthReport& report, const MemoryPeak& before, const MemoryPeak& after);

/// Of devices whose allocator reserves more while no more is in use: fragmentation is the answer. After tell().
void tell_reserved(GrowthReport& report, const ReservedBytes& before, const ReservedBytes& after);

/// Of object graphs: the culprits are the containers that keep more, where any does. After tell(). `owners` compares
/// the report's two ends; `axis`: null without times.
void tell_objects(GrowthReport& report, const OwnerReport& owners, const TimeAxis* axis = nullptr);

}  // namespace snapdiff::story
