#include "analyzer/postmortem/findings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analyzer/document/terms.hpp"
#include "analyzer/postmortem/series_facts.hpp"

namespace snapdiff::postmortem {

using namespace document;  // its words
namespace {

constexpr std::size_t kCommands = 2;
constexpr std::size_t kPlaces = 3;
constexpr std::size_t kPathFrames = 4;
constexpr std::size_t kSitesTold = 3;
constexpr std::size_t kCountersTold = 5;
constexpr std::size_t kCulpritsTold = 3;  // page 1 has a line of each of the others

std::string_view number_word(std::size_t n) {
  static constexpr std::array<std::string_view, 4> kWords = {"No", "One", "Two", "Three"};
  return n < kWords.size() ? kWords[n] : "Several";
}

bool is_common(const GrowthReport& report, const FrameView& frame) {
  return !report.common_path.empty() && frame.function == report.common_path;
}

/// "main › serve › leak_sessions", below what all culprits share.
void path_text(Writer& out, const GrowthReport& report, const Culprit& culprit) {
  const std::vector<FrameView>& path = culprit.path;
  const FrameView* last = telling_frame(path);
  const std::size_t end = last == nullptr ? 0 : static_cast<std::size_t>(last - path.data()) + 1;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < end; ++i) {
    if (is_common(report, path[i])) begin = i + 1;
  }
  if (end - begin > kPathFrames) begin = end - kPathFrames;
  for (std::size_t i = begin; i < end; ++i) {
    if (i > begin) out << " \u203a ";
    out.frame(path[i]);
  }
  if (end == 0) out << "a path without frames";
  const FrameView* python = python_frame(path);
  if (python != nullptr && python < path.data() + begin) {
    (out << ", called from ").frame(*python);
    if (has_place(*python)) (out << " ").place(*python);
  }
}

/// "; 2.10 MiB of it at malloc_line svc.cc:24".
void sites_text(Writer& out, const GrowthReport& report, const Culprit& culprit) {
  std::size_t told = 0;
  for (const Culprit::Site& site : culprit.sites) {
    if (told == kSitesTold || (site.growth > 0) != (culprit.growth() > 0)) continue;
    if (is_machinery(site.frame)) continue;
    if (!culprit.path.empty() && culprit.sites.size() == 1 && site.frame == culprit.path.back() &&
        !has_place(site.frame))
      continue;
    out << (told == 0 ? "; allocated at " : ", ");
    out.frame(site.frame);
    if (has_place(site.frame)) (out << " ").place(site.frame);
    out << " " << growth(report, site.growth);
    if (report.has_objects && site.objects != 0) out << " in " << amount_of(site.objects, "object", true);
    ++told;
  }
}

template <class... Parts>
void say(std::vector<Finding>& to, Finding::Kind kind, const Parts&... parts) {
  if (Prose text = prose_of(parts...); !text.empty()) to.push_back({kind, std::move(text)});
}

Prose sentence(const Prose& text) { return prose_of(text, "."); }

Prose part_sentence(const PeakPart& part) {
  Writer out;
  out << part.text.share << ", " << part.text.growth << " of " << part.text.label << " in " << part.text.pace << ": ";
  out << part.text.name;
  if (!part.text.place.empty()) out << " " << part.text.place;
  out << ".";
  return out.take();
}

}  // namespace

std::vector<Finding> what_findings(const Postmortem& report) {
  std::vector<Finding> out;
  say(out, Finding::Kind::what, opening_of(report));
  say(out, Finding::Kind::what, failure_of(report));
  if (report.pins && report.pins->reserved > 0) {
    const PinReport& pins = *report.pins;
    say(out, Finding::Kind::what, "Of ", sized(pins.reserved), " that the allocator holds at the end, ",
        sized(pins.live.current), " are in use and ", sized(pins.pinned.current),
        " are free but pinned: in segments that blocks in use keep from going back to the driver; ",
        sized(pins.releasable), " could go back.");
  }
  if (!report.counters) return out;
  std::size_t told = 0;
  for (const CounterRow& row : report.counters->rows) {
    if (told == kCountersTold) break;
    if (row.cumulative || row.growth == 0 || row.known() < 2) continue;
    if (!has_stacks(report) && &row == leading_counter(report)) continue;
    Writer text;
    counter_change(text, row);
    if (row.known() >= kJudgedFrom && !row.verdict.word.empty())
      text << " (" << row.verdict.word << ": " << row.verdict.reason << ")";
    text << ".";
    say(out, Finding::Kind::what, text.take());
    ++told;
  }
  return out;
}

std::vector<Finding> where_findings(const Postmortem& report) {
  std::vector<Finding> out;
  if (!has_stacks(report)) {
    say(out, Finding::Kind::where, "The inputs have no stacks: they cannot say where the memory was allocated.");
    return out;
  }
  const GrowthReport& report_growth = report.growth();
  if (report_growth.grew == 0) {
    say(out, Finding::Kind::where,
        (report_growth.shrank == 0 ? "No stack changed between the first and the last snapshot." : "No stack grew."));
  }
  const bool bare = has_bare_rows(report_growth);
  std::size_t rising = 0;
  std::int64_t held = 0;
  for (const Culprit& culprit : culprits_of(report)) {
    if (is_falling(culprit)) continue;
    ++rising;
    held += std::min(culprit.growth(), report_growth.grew - held);
  }
  if (rising > 1) {
    Writer text;
    text << number_word(rising) << (bare ? " kinds" : " call paths");
    FrameView common;
    common.function = report_growth.common_path;
    if (!report_growth.common_path.empty() && !is_machinery(common))
      (text << " below ").name(report_growth.common_path);
    text << " hold " << percent(held, report_growth.grew) << " of the growth.";
    say(out, Finding::Kind::where, text.take());
  }
  if (rising == 0 && report_growth.grew > 0) {
    say(out, Finding::Kind::where, report_growth.story->no_culprit, ".");
  }
  for (const Culprit& culprit : culprits_of(report)) {
    Writer text;
    text << percent_of(culprit.share) << (is_falling(culprit) ? " of the shrinkage, " : " of the growth, ")
         << growth(report_growth, culprit.growth());
    if (bare) {
      culprit_name(text << ", is counted under ", culprit);
    } else {
      text << (is_falling(culprit) ? ", had been allocated through " : ", was allocated through ");
      path_text(text, report_growth, culprit);
      sites_text(text, report_growth, culprit);
    }
    text << ".";
    say(out, Finding::Kind::where, text.take());
  }
  if (report.pins && !report.pins->rows.empty() && report.pins->pinned.current > 0) {
    const PinReport& pins = *report.pins;
    const PinnedRow& row = pins.rows.front();
    std::vector<FrameView> frames;
    pins.view->frames(pins.stacks[row.key], frames);
    Writer text;
    text << percent(row.pinned.current, pins.pinned.current) << " of the pinned bytes, " << sized(row.pinned.current)
         << " in " << amount_of(row.segments, "segment") << ", are kept by blocks allocated through ";
    const std::size_t first = telling_begin(frames);
    const std::size_t end = std::min(frames.size(), first + kPathFrames);
    for (std::size_t i = end; i-- > first;) {
      text.frame(frames[i]);
      if (i > first) text << " \u203a ";
    }
    if (frames.empty()) text << "frames that are hidden";
    text << ".";
    say(out, Finding::Kind::where, text.take());
  }
  return out;
}

std::vector<Finding> since_findings(const Postmortem& report) {
  std::vector<Finding> out;
  if (!has_stacks(report)) return out;
  const GrowthReport& report_growth = report.growth();
  if (report.trend.series.steps.size() < 3) {
    Writer text;
    (text << "Between ").snapshot(report_growth.baseline);
    (text << " and ").snapshot(report_growth.current) << ": two snapshots cannot say when.";
    if (report_growth.grew != 0 || report_growth.shrank != 0) say(out, Finding::Kind::since, text.take());
    return out;
  }
  for (const Culprit& culprit : culprits_of(report)) {
    if (is_falling(culprit)) continue;
    if (out.size() == kCulpritsTold) break;
    const Rise rise = rise_of(values_of(report_growth, culprit.rows));
    if (rise.steps == 0) continue;
    Writer text;
    text << rise_of_culprit(report, culprit);
    if (rise.largest > 0 && rise.largest == rise.since) {
      text << ", its largest step (" << growth(report_growth, rise.largest_step) << ")";
    } else if (rise.largest > 0) {
      snapshot_text(text << "; its largest step, " << growth(report_growth, rise.largest_step) << ", was to ", report,
                    rise.largest);
    }
    text << ".";
    say(out, Finding::Kind::since, text.take());
  }
  return out;
}

std::vector<Finding> certainty_findings(const Postmortem& report) {
  std::vector<Finding> out;
  const std::size_t n = report.trend.series.steps.size();
  if (n < kJudgedFrom) {
    say(out, Finding::Kind::certainty, amount_of(n, "snapshot"),
        (n == 2 ? " show a difference, not a trend" : " are too few to call it a trend"), "; ",
        static_cast<std::size_t>(kJudgedFrom), " or more are judged.");
  }
  std::size_t told = 0;
  for (const Culprit& culprit : culprits_of(report)) {
    const Verdict& verdict = culprit.verdict;
    if (verdict.word.empty() || is_falling(culprit)) continue;
    if (told++ == kCulpritsTold) break;
    Writer text;
    culprit_name(text, culprit) << ": " << verdict.word << ", " << verdict.reason
                                << (verdict.by_objects ? " (by its count of objects)." : ".");
    say(out, Finding::Kind::certainty, text.take());
  }
  if (!has_stacks(report)) {
    const CounterRow* row = leading_counter(report);
    if (row != nullptr && row->known() >= kJudgedFrom && !row->verdict.word.empty()) {
      Writer text;
      text.name(row->name) << ": " << row->verdict.word << ", " << row->verdict.reason << ".";
      say(out, Finding::Kind::certainty, text.take());
    }
    return out;
  }
  const GrowthReport& report_growth = report.growth();
  say(out, Finding::Kind::certainty, matching_of(report));
  std::int64_t blurred = 0;
  for (const GrowthRow& row : report_growth.rows)
    blurred += row.value.growth() != 0 && report_growth.has_error &&
                       document::within_error(static_cast<double>(row.value.growth()), row.error)
                   ? 1
                   : 0;
  if (blurred > 0) {
    say(out, Finding::Kind::certainty, amount_of(blurred, "row"), " changed by less than two standard deviations of ",
        (report_growth.rounded ? "what the inputs are rounded to." : "their sampling error."));
  }
  const Unnamed& unnamed = report_growth.unnamed;
  if (unnamed.unnamed > 0) {
    const std::string held = value(report_growth, unnamed.value);
    say(out, Finding::Kind::certainty, count(unnamed.unnamed), " of ", count(unnamed.addresses),
        " addresses have no name", unnamed.value != 0 ? "; " + held + " lie in stacks with one." : ".");
  }
  if (!report_growth.listed_once.empty()) {
    say(out, Finding::Kind::certainty, amount_of(report_growth.listed_once.size(), "stack"),
        " are listed at one end only: the source leaves small rows out, so their growth is not known and in no row.");
  }
  if (!report.trend.axis.note.empty()) {
    say(out, Finding::Kind::certainty, "Times: ", report.trend.axis.note, ".");
  }
  return out;
}

std::vector<Finding> not_this_findings(const Postmortem& report) {
  std::vector<Finding> out;
  const auto tell = [&](const auto&... parts) { say(out, Finding::Kind::not_this, parts...); };
  const GrowthReport& report_growth = report.growth();
  if (!report.trend.restart.empty()) {
    const bool after = report.trend.left_after > 0;
    const std::size_t left_out = report.trend.left_out + report.trend.left_after;
    Writer text;
    text << "A restart is suspected " << (after ? "after " : "before ");
    snapshot_text(text, report, after ? report.trend.series.steps.size() - 1 : 0)
        << ": " << report.trend.restart << ". " << amount_of(left_out, "snapshot")
        << (after && report.trend.left_out > 0 ? " of other lives "
            : after                            ? " after it "
                                               : " before it ")
        << (left_out == 1 ? "is" : "are") << " left out, never compared across it.";
    tell(text.take());
  }
  if (!has_stacks(report)) return out;
  const Story& story = *report_growth.story;
  if (!story.hidden.empty()) {
    tell("T", std::string_view(story.hidden).substr(1), ".");
  }
  for (const Passing& passing : story.passing) {
    Writer text;
    text << value(report_growth, passing.peak) << " allocated and freed again: ";
    passing.path.empty() ? text << "a stack whose frames are hidden" : text.frame(passing.path.back());
    snapshot_text(text << ", allocated at ", report, passing.allocated);
    snapshot_text(text << ", freed at ", report, passing.freed);
    text << ".";
    tell(text.take());
  }
  for (const Culprit& culprit : story.levelled) {
    const std::string& word = culprit.verdict.word;
    Writer text;
    culprit_name(text, culprit) << " " << growth(report_growth, culprit.growth()) << " is " << word << ", "
                                << culprit.verdict.reason;
    if (word == "SATURATING") text << ": by its shape a cache or pool that has filled up";
    text << ", not steady growth.";
    tell(text.take());
  }
  for (const auto& [change, what] : {std::pair<Change, std::string_view>{report_growth.unattributed, "in no stack"},
                                     {report_growth.filtered, "in stacks that the filters leave out"}}) {
    if (change.growth() == 0) continue;
    tell(growth(report_growth, change.growth()), " of the change is ", what, ".");
  }
  return out;
}

Prose peak_opening(const PeakStory& peak) { return prose_of(peak.headline, "; ", peak.figures, "."); }

std::vector<Prose> peak_advice(const PeakStory& peak) {
  std::vector<Prose> out;
  for (const Prose& advice : peak.advice) out.push_back(sentence(advice));
  return out;
}

std::vector<Finding> peak_findings(const Postmortem& report) {
  const PeakStory& peak = *report.growth().story->peak;
  std::vector<Finding> out;
  out.push_back({Finding::Kind::what, peak_opening(peak)});
  std::vector<Finding> others = what_findings(report);
  others.erase(others.begin());  // from the first moment to the last
  out.insert(out.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  for (const PeakPart& part : peak.parts) out.push_back({Finding::Kind::where, part_sentence(part)});
  for (const Prose& module : peak.modules) {
    out.push_back({Finding::Kind::where, prose_of("Below calls of modules: ", module, ".")});
  }
  std::int64_t unknown = 0;
  for (const PeakRole& role : peak.facts.roles) {
    if (role.role == "unknown" || role.role == "before trace") unknown += role.bytes;
  }
  out.push_back(
      {Finding::Kind::certainty,
       prose_of(
           "What blocks are for is worked out from the stacks that allocated them and from when they were freed; of ",
           percent(unknown, peak.facts.bytes), " of the peak it is not known.")});
  for (Prose& advice : peak_advice(peak)) out.push_back({Finding::Kind::next, std::move(advice)});
  return out;
}

std::vector<Finding> next_findings(const Postmortem& report) {
  std::vector<Finding> out;
  const auto say = [&](const auto&... parts) { out.push_back({Finding::Kind::next, prose_of(parts...)}); };
  const GrowthReport& growth = report.growth();
  if (!has_stacks(report)) {
    say("Record stacks as well (a heap profile or an allocation tracker of the same process): only they say where.");
    return out;
  }
  std::vector<std::string> asked;
  const std::vector<const Culprit*> marked = marked_of(growth);
  for (const Culprit* culprit : marked) {
    if (culprit->growth() <= 0 || culprit->path.empty() || asked.size() == kCommands) continue;
    const FrameView& frame = *telling_frame(culprit->path);
    if (frame.pseudo || has_bare_rows(growth)) continue;
    std::string pattern = pattern_of(frame);
    if (pattern.empty() || std::find(asked.begin(), asked.end(), pattern) != asked.end()) continue;
    Writer text;
    (text << "Callers and callees: snapdiff peek '").name(pattern) << "'";
    text.operands(growth);
    say(text.take());
    asked.push_back(std::move(pattern));
  }
  std::vector<std::pair<std::string_view, std::int32_t>> places;
  Writer look;
  for (const Culprit* culprit : marked) {
    if (culprit->growth() <= 0 || culprit->sites.empty() || places.size() == kPlaces) continue;
    const FrameView* python = python_frame(culprit->path);
    const bool told = !is_machinery(culprit->sites.front().frame) || python == nullptr;
    const FrameView& frame = told ? culprit->sites.front().frame : *python;
    const std::pair<std::string_view, std::int32_t> place{frame.file, frame.line};
    if (frame.file.empty() || frame.line <= 0 || std::find(places.begin(), places.end(), place) != places.end())
      continue;
    look << (places.empty() ? "Look at " : ", ");
    look.place(frame);
    places.push_back(place);
  }
  if (!places.empty()) {
    look << ": who still holds what is allocated there?";
    say(look.take());
  }
  if (report.failure || report.pins) {
    Writer text;
    text << "Memory over time, and who pins segments: snapdiff render --timeline --segments";
    text.operand(growth.current);
    say(text.take());
  }
  if (growth.current.snapshot != nullptr && growth.current.snapshot->graph != nullptr) {
    Writer text;
    text << "Who keeps it alive: snapdiff retained";
    text.operands(growth);
    say(text.take());
  }
  if (growth.unnamed.unnamed > 0 && !growth.unnamed.modules.empty()) {
    Writer text;
    text << "Names for the addresses: add --symbols DIR with ";
    const std::string_view module = growth.unnamed.modules.front().module;
    module.empty() ? text << "the binaries" : text.name(base_name(module));
    if (growth.unnamed.modules.size() > 1) text << " and the other binaries";
    text << ".";
    say(text.take());
  }
  const bool is_of_peak = growth.story != nullptr && growth.story->is_of_peak;
  if (!is_of_peak && report.trend.series.steps.size() < kJudgedFrom) {
    say("Take ", static_cast<std::size_t>(kJudgedFrom),
        " snapshots or more at equal distances: from then on stacks are judged.");
  }
  return out;
}

}  // namespace snapdiff::postmortem
