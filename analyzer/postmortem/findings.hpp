#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/document/prose.hpp"
#include "snapdiff/postmortem.hpp"

/// The parts of a narrative. Each says what the report's figures hold, and nothing where they hold
/// nothing.
namespace snapdiff::postmortem {

/// What the sentences and the findings share.
/// "snapshot 2 (svc.0002.heap, 12:00)" of a judged snapshot.
document::Writer& snapshot_text(document::Writer& out, const Postmortem& report, std::size_t index);
document::Writer& culprit_name(document::Writer& out, const Culprit& culprit);
document::Writer& counter_change(document::Writer& out, const CounterRow& row);
/// Those that rise, then what was freed.
std::vector<Culprit> culprits_of(const Postmortem& report);
inline bool is_falling(const Culprit& culprit) { return culprit.growth() < 0; }

Prose headline_of(const Postmortem& report);
/// "In-use bytes grew from 1.02 to 6.47 MiB: +5.45 MiB, +44 004 objects, over 13 snapshots in 11.0 h."
Prose opening_of(const Postmortem& report);
/// "f +2.52 MiB (46 %), g +2.10 MiB (38 %)"; empty without culprits.
Prose shares_of_growth(const Postmortem& report);
/// The same for what was freed: "cache.fill -45.0 MiB (100 % of the shrinkage)".
Prose freed_of(const Postmortem& report);
/// "f rose in 10 of 12 steps, above its first value since snapshot 2 (svc.0002.heap)"; "f rose at every step".
Prose rise_of_culprit(const Postmortem& report, const Culprit& culprit);
/// Matching and sampling.
Prose matching_of(const Postmortem& report);
Prose limit_of(const Postmortem& report);
Prose failure_of(const Postmortem& report);
/// The row of levels that says most: that with a verdict, else the first.
const CounterRow* leading_counter(const Postmortem& report);

/// Of a trace that is no series: its fullest moment, what would hold less, and all that is found of it but
/// next_findings().
Prose peak_opening(const PeakStory& peak);
std::vector<Prose> peak_advice(const PeakStory& peak);
std::vector<Finding> peak_findings(const Postmortem& report);

std::vector<Finding> what_findings(const Postmortem& report);
std::vector<Finding> where_findings(const Postmortem& report);
std::vector<Finding> since_findings(const Postmortem& report);
std::vector<Finding> certainty_findings(const Postmortem& report);
std::vector<Finding> not_this_findings(const Postmortem& report);
std::vector<Finding> next_findings(const Postmortem& report);

}  // namespace snapdiff::postmortem
