#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/prose_text.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

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
    // Of two snapshots nothing was judged.
    if (stacks && growth.series_length > 0 && report.trend.verdicts.size() == growth.rows.size()) {
      document(json, "trend", json_trend(report.trend, style));
    } else {
      null_field("trend");
    }
    report.counters ? document(json, "counters", write_counters(*report.counters, style)) : null_field("counters");
    report.pins ? document(json, "pins", write_pins(*report.pins, style)) : null_field("pins");
    json.new_line();
    json.object_or_null("failure", report.failure.has_value(),
                        [&] { json_out_of_memory_fields(json, *report.failure); });
    json.new_line();
    json_notes(json, report.notes);
  });
}

}  // namespace snapdiff::report
