#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/postmortem/make_postmortem.hpp"
#include "analyzer/session/load.hpp"
#include "snapdiff/waterfall.hpp"

namespace snapdiff::session {

/// Snapshots that one report is about.
struct ReportedSeries {
  std::string name;  ///< of its folder; "" where there is only one series
  Loaded loaded;
  std::optional<LoadedSnapshot> trace;  ///< where `loaded` are moments of one snapshot's trace: that snapshot
  bool by_iteration = false;            ///< the moments are of the iterations of a training loop
  std::shared_ptr<const Waterfall> resident = {};  ///< what RSS consists of, where the files say it
};

/// The series among the snapshots: one, where they can be compared; else one for each format, those of single
/// snapshots left out with a note in `left_out`.
std::vector<ReportedSeries> split_series(const Loaded& loaded, const DiffOptions& view, Notes& left_out);

/// One snapshot with a trace is a series in itself: of the ends of its steps where it marks them, else of its events.
/// Nothing where `loaded` is anything else. Errors: those of reading the trace.
Result<std::optional<ReportedSeries>> series_of_trace(const Loaded& loaded);

/// What a report on all of `loaded` is about: series_of_trace(), else the snapshots as they are.
Result<ReportedSeries> reported_series(const Loaded& loaded);

/// Everything about one series; with its narrative. Errors: those of the diff.
Result<Postmortem> find_out(const ReportedSeries& series, const DiffOptions& view, std::optional<std::int64_t> limit,
                            const postmortem::Rules& rules);

}  // namespace snapdiff::session
