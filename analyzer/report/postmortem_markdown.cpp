#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/prose_text.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "analyzer/report/writers.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {
namespace {

std::string marked(const Prose& prose) { return literal(plain_text(prose)); }

/// A line whose end is a command: that as code, to be copied.
std::string with_command(const Prose& prose) {
  const std::string text = plain_text(prose);
  const std::size_t at = text.find(": snapdiff ");
  if (at == std::string::npos || text.find('`') != std::string::npos) return literal(text);
  return literal(text.substr(0, at + 2)) + "`" + text.substr(at + 2) + "`";
}

std::string findings_text(const Narrative& told) {
  std::string out;
  const Finding* before = nullptr;
  for (const Finding& finding : told.findings) {
    if (before == nullptr || before->kind != finding.kind)
      out += (before == nullptr ? "" : "\n") + std::string("**") + std::string(title_of(finding.kind)) + "**\n\n";
    out += "- " + with_command(finding.text) + "\n";
    before = &finding;
  }
  return out;
}

std::string hints_text(const Narrative& told) {
  if (told.hints.empty()) return {};
  std::string out = "\n#### Hints\n\nKnown patterns that the evidence fits: heuristics.\n\n";
  for (const Hint& hint : told.hints) {
    out += "- **" + literal(printable(hint.title)) + "**" + (hint.harmless ? " (probably harmless)" : "") + ": " +
           marked(hint.evidence);
    if (!hint.suggestion.empty()) out += " Suggestion: " + literal(printable(hint.suggestion)) + ".";
    out += " (rule " + literal(printable(hint.rule)) + ")\n";
  }
  return out;
}

std::string cell(std::string_view text) { return text.empty() ? std::string() : literal(printable(text)); }

std::string inputs_text(const Postmortem& report) {
  const std::string& unit = report.growth().unit;
  const bool totals = !report.growth().metric.empty();
  std::vector<Sheet::Column> columns{{"#"}};
  if (totals) columns.insert(columns.end(), {{"total"}, {"step"}});
  columns.insert(columns.end(), {{"input", 0, false}, {"taken at", 0, false}});
  Sheet table(std::move(columns), "SHA-256", {});
  for (std::size_t i = 0; i < report.steps.size(); ++i) {
    const SeriesStep& step = report.steps[i];
    Sheet::Row& row = table.add();
    row.cells.push_back({std::to_string(i + 1)});
    if (totals) {
      row.cells.push_back({value_text(step.total, unit)});
      row.cells.push_back({i == 0 ? "" : value_text(step.growth, unit, true)});
    }
    std::string name = cell(snapshot_name(step.snapshot, true));
    if (!step.restart.empty()) name += " (restart? " + cell(step.restart) + ")";
    row.cells.push_back({std::move(name)});
    const Snapshot* snapshot = step.snapshot.snapshot.get();
    const bool timed = snapshot != nullptr && snapshot->facts.taken_at_ns.has_value();
    row.cells.push_back({timed ? rfc3339(*snapshot->facts.taken_at_ns) : ""});
    if (snapshot != nullptr) row.last = cell(snapshot->facts.source.sha256);
  }
  std::string out = "\n<details>\n<summary>Inputs: " + counted(report.steps.size(), "snapshot") + "</summary>\n\n" +
                    literal(printable(report.order_note)) + "\n\n" + table.markdown();
  const std::vector<std::string> notes = note_lines(report.notes, true);
  if (!notes.empty()) out += "\n";
  for (const std::string& note : notes) out += "- " + literal(note) + "\n";
  out += "\n" + literal(printable(report.version));
  if (totals && !report.growth().rule_set.empty())
    out +=
        ", metric " + cell(report.growth().metric) + ", names normalised by rule set " + cell(report.growth().rule_set);
  if (report.redacted) out += "; names are tokens";
  return out + "\n\n</details>\n";
}

}  // namespace

namespace {

/// Two columns of numbers, three of words, and one more at the end.
std::string table_of(const std::vector<std::string>& columns, const std::string& last,
                     std::initializer_list<const std::vector<Culprit>*> lists) {
  std::vector<Sheet::Column> looks;
  for (std::size_t i = 0; i < columns.size(); ++i) looks.push_back({columns[i], 0, i < 2});
  Sheet table(std::move(looks), last, {});
  for (const std::vector<Culprit>* list : lists) {
    for (const Culprit& culprit : *list) {
      std::string where = marked(culprit.text.place);
      if (!culprit.text.via.empty()) where += (where.empty() ? "(" : " (") + marked(culprit.text.via) + ")";
      table.add() = {{{cell(plain_text(Span{culprit.text.growth}))},
                      {cell(plain_text(Span{culprit.text.share}))},
                      {cell(culprit.text.label)},
                      {marked(culprit.text.name)},
                      {where}},
                     cell(plain_text(Span{culprit.text.pace}))};
    }
  }
  return table.markdown() + "\n";
}

std::string parts_table(const PeakStory& peak) {
  return table_of({"bytes", "share", "for", "allocated in", "where"}, "blocks", {&peak.parts});
}

/// The culprits in a table, what was freed before them; of a peak what it holds.
std::string culprits_text(const Story& story) {
  if (!story.culprits.empty() || !story.freed.empty())
    return table_of({"growth", "share", "verdict", "culprit", "where"}, "pace", {&story.freed, &story.culprits});
  std::string out;
  if (!story.no_culprit.empty()) out = "No culprit: " + literal(story.no_culprit) + ".\n\n";
  return story.peak == nullptr ? out : out + parts_table(*story.peak);
}

std::string answer_text(const Story& story) {
  std::string out;
  for (const Event& event : story.events)
    out += "**" + literal(printable(event.title)) + "**: " + marked(event.text) + ".\n\n";
  return out;
}

}  // namespace

std::string markdown_peak(const PeakStory& peak) {
  std::string out = "**" + marked(peak.headline) + "**\n\n" + literal(printable(peak.figures)) + ".\n\n";
  if (!peak.parts.empty()) out += parts_table(peak);
  for (const Prose& advice : peak.advice) out += "- " + marked(advice) + "\n";
  return peak.advice.empty() ? out : out + "\n";
}

std::string postmortem_markdown(const Postmortem& report, const Style& style) {
  const Narrative& told = report.narrative;
  const Story* story = report.growth().metric.empty() ? nullptr : report.growth().story.get();
  std::string out = story == nullptr ? std::string() : answer_text(*story);
  out += "### " + marked(told.headline);
  if (!told.verdict.empty()) out += " (" + literal(told.verdict) + ")";
  out += "\n\n";
  if (!report.title.empty()) out += "Series: " + cell(report.title) + "\n\n";
  if (story != nullptr) out += culprits_text(*story);
  for (const Prose& line : told.in_short) out += "- " + with_command(line) + "\n";
  out += "\n";
  if (!report.growth().metric.empty()) {
    out += growth_rows(report.growth(), row_verdicts(report.trend), style) + "\n";
  } else if (report.counters) {
    out += markdown_counters(*report.counters, style) + "\n";
  }
  out += "#### Findings\n\n" + findings_text(told) + hints_text(told);
  return out + inputs_text(report);
}

}  // namespace snapdiff::report
