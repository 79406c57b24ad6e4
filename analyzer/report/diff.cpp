#include "analyzer/document/growth_columns.hpp"
#include "analyzer/report/cells.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/selection.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

std::string text_diff(const GrowthReport& report, const Style& style) {
  std::string out = headline_text(headline(report, style), style);
  out += "\n";
  out += growth_table(report, select_rows(report, style, unchanged_rows(report, style)), {}, style);
  out += listed_once_text(report, style);
  return out + text_end(note_lines(report, style.utf8), style);
}

std::string markdown_diff(const GrowthReport& report, const Style& style) {
  return markdown_title(report.baseline, report.current, report.metric, report.total, report.unit) +
         markdown_head(headline(report, unwrapped(style))) + growth_rows(report, {}, style) +
         listed_once_markdown(report, style) + markdown_notes(note_lines(report, true));
}

/// Rows in the machine forms: everything, unless a limit was asked for.
Selection rows_of(const GrowthReport& report, const Style& style) {
  return select_rows(report, style, Unchanged::shown);
}

/// Functions that the two builds call otherwise; not there where they agree.
void renamed_field(JsonWriter& json, const GrowthReport& report) {
  if (report.renamed.empty()) return;
  json.objects("renamed", report.renamed, [&](const RenamedFunction& one) {
    json.field("before", one.before);
    json.field("after", one.after);
    json.field("stacks", one.stacks);
  });
}

void head_fields(JsonWriter& json, const GrowthReport& report) {
  json.field("schema", "snapdiff.diff/1");
  json_view_fields(json, report);
  json_snapshot(json, "baseline", report.baseline);
  json_snapshot(json, "current", report.current);
  json.object("total", [&] {
    json_change_fields(json, report.total);
    json.field("grew", report.grew);
    json.field("shrank", report.shrank);
    json.field("error", report.total_error);
  });
  json.field("exact", report.exact);
  json.object("matched", [&] {
    for (std::size_t tier = 0; tier < kMatchTiers; ++tier) {
      json.field(to_text(static_cast<MatchTier>(tier)), report.matched[tier]);
    }
  });
  json.field_or_null("rule_set", report.rule_set);
  renamed_field(json, report);
  json_unnamed(json, report.unnamed);
}

void tail_fields(JsonWriter& json, const GrowthReport& report, const Others& others) {
  json_rest(json, report, others);
  json_listed_once(json, report);
  json.field("possible_pairs", report.possible_pairs);
  json_notes(json, report.notes);
}

/// Calls `write` with the rows of a comparison and what writes its head, a row and its tail.
template <class Write>
void with_parts(const GrowthReport& report, RowVerdicts verdicts, const Style& style, const Write& write) {
  const Selection selection = rows_of(report, style);
  const document::GrowthView view{.report = report, .verdicts = verdicts};
  const auto fields = fields_of(document::growth_fields(false), view);
  write(
      selection.rows,
      [&](JsonWriter& json) {
        head_fields(json, report);
        json_story_fields(json, report);
      },
      [&](JsonWriter& json, std::uint32_t row) { json.object([&] { json_cells(json, fields, row_line(view, row)); }); },
      [&](JsonWriter& json) { tail_fields(json, report, selection.others); });
}

void diff_object(JsonWriter& json, const GrowthReport& report, RowVerdicts verdicts, const Style& style) {
  with_parts(report, verdicts, style, [&](const auto&... parts) { json_object_of_rows(json, "rows", parts...); });
}

void diff_document(std::string& out, const GrowthReport& report, RowVerdicts verdicts, const Style& style) {
  with_parts(report, verdicts, style, [&](const auto&... parts) { json_document(out, style, "rows", parts...); });
}

}  // namespace

std::string text_end(const std::vector<std::string>& notes, const Style& style) {
  std::string out;
  if (!notes.empty()) out += "\n";
  for (const std::string& note : notes) out += wrapped_line(note, style);
  if (!style.footer.empty()) out += "\n" + style.footer + "\n";
  return out;
}

void json_growth_row(JsonWriter& json, const GrowthReport& report, std::uint32_t row) {
  const document::GrowthView view{.report = report};
  json.object([&] { json_cells(json, fields_of(document::growth_fields(false), view), row_line(view, row)); });
}

std::string json_diff(const GrowthReport& report, RowVerdicts verdicts, const Style& style) {
  std::string out;
  diff_document(out, report, verdicts, style);
  return out;
}

std::string json_series(const SeriesReport& series, const std::vector<GrowthReport>& steps, RowVerdicts verdicts,
                        const Style& style) {
  std::string out;
  if (style.form == Form::jsonl) {
    for (const GrowthReport& step : steps) diff_document(out, step, {}, style);
    diff_document(out, series.overall, verdicts, style);
    return out;
  }
  JsonWriter json(out, JsonLayout::rows, style.sink);
  json.begin_object();
  json.field("schema", "snapdiff.diff/1");
  json.object_rows("snapshots", series.steps, [&](const SeriesStep& step) {
    json_step_fields(json, step);
    json.field_or_null("restart", step.restart);
    if (step.other_build) json.field("other_build", true);
  });
  json.rows("steps", steps, [&](const GrowthReport& step) { diff_object(json, step, {}, style); });
  json.key("overall");
  diff_object(json, series.overall, verdicts, style);
  json.end_object();
  return out + "\n";
}

std::string write_diff(const GrowthReport& report, const Style& style) {
  return in_form(
      style.form, [&] { return text_diff(report, style); }, [&] { return markdown_diff(report, style); },
      [&] { return csv_diff(report, {}, style); }, [&] { return json_diff(report, {}, style); });
}

}  // namespace snapdiff::report
