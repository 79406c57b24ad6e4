#include <algorithm>
#include <utility>

#include "analyzer/document/prose.hpp"
#include "analyzer/postmortem/findings.hpp"
#include "analyzer/postmortem/hints.hpp"
#include "analyzer/postmortem/make_postmortem.hpp"
#include "analyzer/postmortem/series_facts.hpp"
#include "analyzer/story/make_story.hpp"

namespace snapdiff::postmortem {

using namespace document;  // its words
namespace {

constexpr std::size_t kShortLines = 5;
/// A hint that explains less of the growth is not one of the five lines.
constexpr double kHintShare = 0.1;

/// Of the culprits, never of the total: one stack that comes and goes would decide it.
std::string badge_of(const Postmortem& report) {
  if (!has_stacks(report)) {
    const CounterRow* row = leading_counter(report);
    return row != nullptr && row->known() >= kJudgedFrom ? row->verdict.word : std::string();
  }
  return report.growth().story->verdict;
}

/// A line of the story that begins so, as a sentence; empty without one. No name of an input is in it.
Prose line_of(const Postmortem& report, std::string_view beginning) {
  if (!has_stacks(report)) return {};
  for (const Prose& also : report.growth().story->also) {
    if (also.empty() || !also.front().text.starts_with(beginning)) continue;
    std::string text = also.front().text + ".";
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return {{std::move(text), false}};
  }
  return {};
}

/// Which iterations of a training loop the snapshots are moments of; empty where they are not.
Prose loop_line(const Postmortem& report) { return line_of(report, kIterationsNote); }

Prose where_line(const Postmortem& report) {
  const Prose culprits = shares_of_growth(report);
  if (!culprits.empty())
    return prose_of(has_bare_rows(report.growth()) ? "What grew: " : "Allocated through ", culprits, ".");
  if (!has_stacks(report) || report.growth().grew <= 0 || !loop_line(report).empty()) return {};
  return prose_of("No culprit: ", report.growth().story->no_culprit, ".");
}

/// Where nothing grew that could be in its place.
Prose freed_line(const Postmortem& report) {
  if (!has_stacks(report) || !report.growth().story->culprits.empty()) return {};
  const Prose freed = freed_of(report);
  return freed.empty() ? Prose{} : prose_of("Freed by ", freed, ".");
}

/// What the first culprit keeps of each iteration.
Prose iteration_line(const Postmortem& report, const std::string& badge) {
  const Story& story = *report.growth().story;
  if (story.culprits.empty()) return prose_of("Iterations leave nothing behind.");
  const Culprit& first = story.culprits.front();
  return prose_of(badge, badge.empty() ? "" : ": ", first.text.name, " ", first.text.pace, ".");
}

Prose verdict_line(const Postmortem& report, const std::string& badge) {
  if (!loop_line(report).empty()) return iteration_line(report, badge);
  const std::size_t n = report.trend.series.steps.size();
  if (has_stacks(report) && !report.growth().story->culprits.empty()) {
    const Prose rise = rise_of_culprit(report, report.growth().story->culprits.front());
    if (!badge.empty()) return prose_of(badge, ": ", rise, ".");
    return prose_of("No verdict: ", amount_of(n, "snapshot"), " show growth, not a trend. ", rise, ".");
  }
  if (has_stacks(report) && report.growth().grew == 0 && report.growth().shrank == 0)
    return prose_of("No stack changed between the first and the last snapshot.");
  if (n < kJudgedFrom)
    return prose_of("No verdict: ", amount_of(n, "snapshot"),
                    n == 2 ? " show no trend." : " are too few to call it a trend.");
  if (!badge.empty()) return prose_of(badge, ": ", leading_counter(report)->verdict.reason, ".");
  return has_stacks(report) ? prose_of("No verdict: there is no culprit to judge.") : Prose{};
}

void add(std::vector<Prose>& lines, Prose line) {
  if (!line.empty() && std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
}

/// Most important first; what a series has none of gives its line to the next.
std::vector<Prose> in_short(const Postmortem& report, const Narrative& told) {
  std::vector<Prose> lines;
  add(lines, failure_of(report));
  add(lines, opening_of(report));
  add(lines, line_of(report, story::kAtPeak));
  add(lines, where_line(report));
  add(lines, freed_line(report));
  const Prose judged = verdict_line(report, told.verdict);
  add(lines, judged);
  add(lines, loop_line(report));
  add(lines, limit_of(report));
  const Hint* best = nullptr;
  for (const Hint& hint : told.hints) {
    const bool weighs =
        hint.growth == 0 || static_cast<double>(hint.growth) >= kHintShare * static_cast<double>(report.growth().grew);
    if (!hint.harmless && weighs && best == nullptr) best = &hint;
  }
  if (best != nullptr)
    add(lines, prose_of("Hint: ", best->title, best->suggestion.empty() ? "" : ": ", best->suggestion, "."));
  const auto first_of = [&](Finding::Kind kind) {
    const auto found = std::find_if(told.findings.begin(), told.findings.end(),
                                    [&](const Finding& finding) { return finding.kind == kind; });
    return found == told.findings.end() ? Prose{} : found->text;
  };
  Prose next = first_of(Finding::Kind::next);
  // The last line is what to do; what comes before it gives way.
  const std::size_t room = next.empty() ? kShortLines : kShortLines - 1;
  if (lines.size() < room) add(lines, first_of(Finding::Kind::not_this));
  if (lines.size() < room && has_stacks(report)) add(lines, matching_of(report));
  // Without stacks that finding is the verdict's line once more.
  if (lines.size() < room && (has_stacks(report) || judged.empty())) add(lines, first_of(Finding::Kind::certainty));
  if (lines.size() > room) lines.resize(room);
  add(lines, std::move(next));
  return lines;
}

bool is_of_peak(const Postmortem& report) { return has_stacks(report) && report.growth().story->is_of_peak; }

std::vector<Prose> peak_in_short(const Postmortem& report) {
  const Story& story = *report.growth().story;
  std::vector<Prose> lines;
  add(lines, failure_of(report));
  add(lines, peak_opening(*story.peak));
  for (Prose& advice : peak_advice(*story.peak)) add(lines, std::move(advice));
  if (lines.size() >= kShortLines) lines.resize(kShortLines - 1);
  if (!story.next.empty()) {
    add(lines, prose_of(story.peak->facts.bytes == 0      ? "At its fullest: "
                        : story.peak->facts.has_history   ? "By purpose: "
                        : story.peak->facts.roles.empty() ? "Who keeps it: "
                                                          : "Who keeps its segments: ",
                        story.next));
  }
  return lines;
}

void append(std::vector<Finding>& to, std::vector<Finding> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Narrative tell(const Postmortem& report, const Rules& rules) {
  Narrative out;
  out.headline = headline_of(report);
  out.verdict = badge_of(report);
  if (is_of_peak(report)) {
    append(out.findings, peak_findings(report));
    append(out.findings, next_findings(report));
    out.in_short = peak_in_short(report);
    return out;
  }
  append(out.findings, what_findings(report));
  append(out.findings, where_findings(report));
  append(out.findings, since_findings(report));
  append(out.findings, certainty_findings(report));
  Prose limit = limit_of(report);
  if (!limit.empty()) out.findings.push_back({Finding::Kind::limit, std::move(limit)});
  append(out.findings, not_this_findings(report));
  append(out.findings, next_findings(report));
  if (rules != nullptr) out.hints = find_hints(report, *rules);
  out.in_short = in_short(report, out);
  return out;
}

}  // namespace snapdiff::postmortem
