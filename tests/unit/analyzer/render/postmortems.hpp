#pragma once

#include <string>
#include <utility>
#include <vector>

#include "snapdiff/postmortem.hpp"
#include "unit/analyzer/render/stories.hpp"

namespace snapdiff::test {

/// What a story tells, as a post-mortem with findings and hints of its own.
inline Postmortem postmortem_of(const render::Story& story) {
  Postmortem report;
  report.title = story.title;
  report.version = story.version;
  report.order_note = story.order_note;
  report.created_at_ns = story.created_at_ns;
  report.trend.series.steps = story.steps;
  report.trend.series.overall = story.overall;
  report.trend.series.overall.metric = "inuse_space";
  report.steps = story.steps;
  report.trend.verdicts = story.verdicts;
  for (Verdict& verdict : report.trend.verdicts) verdict.p = .99;
  report.trend.verdicts.resize(story.overall.rows.size());
  report.narrative.headline = {{"In-use bytes grew"}};
  report.narrative.in_short = {{{"Most of it came through "}, {"leak_sessions", true}, {"."}}};
  report.narrative.findings = {{Finding::Kind::what, {{"The total rose in every step but one."}}},
                               {Finding::Kind::where, {{"Through "}, {"leak_sessions", true}, {"."}}},
                               {Finding::Kind::next, {{"snapdiff peek "}, {"leak_sessions", true}}}};
  return report;
}

}  // namespace snapdiff::test
