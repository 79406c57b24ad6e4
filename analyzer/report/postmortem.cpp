#include "analyzer/base/number_text.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/text_tools.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "analyzer/report/writers.hpp"

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
                     cell(plain_text(culprit.text.pace))};
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

/// A whole document of another command as a value.
void document(JsonWriter& json, std::string_view key, std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  json.new_line();
  json.key(key);
  json.raw(text);
}

void prose_field(JsonWriter& json, std::string_view key, const Prose& prose) {
  json.objects(key, prose, [&](const Span& span) {
    json.field("text", span.text);
    json.field("name", span.name);
  });
}

void story_fields(JsonWriter& json, const Narrative& told) {
  json.field("headline", plain_text(told.headline));
  json.field_or_null("verdict", told.verdict);
  json.array("in_short", told.in_short, [&](const Prose& line) { json.string(plain_text(line)); });
  json.new_line();
  json.object_rows("findings", told.findings, [&](const Finding& finding) {
    json.field("kind", to_text(finding.kind));
    json.field("text", plain_text(finding.text));
    prose_field(json, "spans", finding.text);
  });
  json.new_line();
  json.object_rows("hints", told.hints, [&](const Hint& hint) {
    json.field("rule", hint.rule);
    json.field("title", hint.title);
    json.field("harmless", hint.harmless);
    json.field("evidence", plain_text(hint.evidence));
    prose_field(json, "spans", hint.evidence);
    json.field_or_null("suggestion", hint.suggestion);
    json.field("growth", hint.growth);
    json.field("rows", static_cast<std::int64_t>(hint.rows.size()));
  });
}

void input_fields(JsonWriter& json, const Postmortem& report) {
  const bool totals = !report.growth().metric.empty();
  json.new_line();
  json.object_rows("inputs", report.steps, [&](const SeriesStep& step) {
    json_snapshot(json, "snapshot", step.snapshot);
    json.field_or_null("total", totals ? std::optional(step.total) : std::nullopt);
    json.field_or_null("objects", step.objects);
    json.field_or_null("growth", totals ? std::optional(step.growth) : std::nullopt);
    json.field_or_null("restart", step.restart);
    if (step.other_build) json.field("other_build", true);
  });
  json.new_line();
  json.object_rows("missing_inputs", report.missing, [&](const MissingInput& one) {
    json.field("before", static_cast<std::int64_t>(one.before + 1));
    json.field("name", one.name);
    json.field("why", one.why);
  });
}

}  // namespace

std::string postmortem_text(const Postmortem& report, const Style& style) {
  std::string out;
  for (const Prose& line : report.narrative.in_short) {
    std::string text = wrapped(plain_text(line, style.utf8), style.width, 2);
    const std::string& word = report.narrative.verdict;
    if (!word.empty() && text.starts_with(word + ":"))
      text = painted(word, verdict_paint(word), style.colour) + text.substr(word.size());
    out += text + "\n";
  }
  return out;
}

std::string markdown_peak(const PeakStory& peak) {
  std::string out = "**" + marked(peak.headline) + "**\n\n" + literal(printable(peak.figures)) + ".\n\n";
  if (!peak.parts.empty()) out += parts_table(peak);
  for (const Prose& advice : peak.advice) out += "- " + marked(advice) + "\n";
  return peak.advice.empty() ? out : out + "\n";
}

std::string postmortem_markdown(const Postmortem& report, const Style& wanted) {
  Style style = wanted;
  style.form = Form::markdown;
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
    out += write_counters(*report.counters, style) + "\n";
  }
  if (report.resident) out += markdown_waterfall(*report.resident, style);
  out += "#### Findings\n\n" + findings_text(told) + hints_text(told);
  return out + inputs_text(report);
}

std::string postmortem_json(const Postmortem& report, const Style& wanted) {
  Style style = wanted;
  style.form = Form::json;
  return json_text([&](JsonWriter& json) {
    json.field("schema", "snapdiff.postmortem/1");
    json.field("version", report.version);
    json.field("title", report.title);
    json.field_or_null("created_at", report.created_at_ns == 0 ? std::string() : rfc3339(report.created_at_ns));
    json.field("order", report.order_note);
    json.field("redacted", report.redacted);
    json.new_line();
    story_fields(json, report.narrative);
    input_fields(json, report);

    const GrowthReport& growth = report.growth();
    const bool stacks = !growth.metric.empty();
    const auto null_field = [&](std::string_view key) {
      json.new_line();
      json.key(key);
      json.null();
    };
    if (stacks) {
      document(json, "diff", json_diff(growth, row_verdicts(report.trend), style));
      document(json, "by_function", json_diff(report.by_function, {}, style));
    } else {
      null_field("diff");
      null_field("by_function");
    }
    // Two snapshots are not judged.
    if (stacks && growth.series_length > 0 && report.trend.verdicts.size() == growth.rows.size()) {
      document(json, "trend", write_trend(report.trend, style));
    } else {
      null_field("trend");
    }
    report.counters ? document(json, "counters", write_counters(*report.counters, style)) : null_field("counters");
    report.pins ? document(json, "pins", write_pins(*report.pins, style)) : null_field("pins");
    json.new_line();
    json.object_or_null("failure", report.failure.has_value(),
                        [&] { json_out_of_memory_fields(json, *report.failure); });
    json.new_line();
    json.object_or_null("resident", report.resident != nullptr, [&] { json_waterfall_fields(json, *report.resident); });
    json.new_line();
    json_notes(json, report.notes);
  });
}

}  // namespace snapdiff::report
