#include <algorithm>
#include <cmath>
#include <span>

#include "analyzer/base/number_text.hpp"
#include "analyzer/document/growth_columns.hpp"
#include "analyzer/report/cells.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/selection.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

/// Why the culprits are what they are, each called as above the table.
std::string reasons(const TrendReport& trend, const Style& style) {
  constexpr std::size_t kTold = 3;
  const Story* const story = trend.series.overall.story.get();
  if (!is_judged(trend) || trend.scenario || story == nullptr) return {};
  std::string out;
  for (const Culprit& culprit : std::span(story->culprits).first(std::min(kTold, story->culprits.size()))) {
    const Verdict& verdict = culprit.verdict;
    if (verdict.word != "GROWING" && verdict.word != "RISING") continue;
    out += wrapped_line(
        plain_text(culprit.text.name, style.utf8) + " " + verdict.word + ": " + printable(verdict.reason, style.utf8),
        style);
  }
  return out.empty() ? out : "\n" + out;
}

std::string text_trend(const TrendReport& trend, const Style& style) {
  std::string out = headline_text(headline(trend, style), style) + "\n";
  out += trend_table(trend, style);
  out += listed_once_text(trend.series.overall, style);
  out += reasons(trend, style);
  return out + text_end(note_lines(trend.series.overall, style.utf8), style);
}

std::string markdown_trend(const TrendReport& trend, const Style& style) {
  const GrowthReport& overall = trend.series.overall;
  const Style wide = unwrapped(style);
  return markdown_title(overall.baseline, overall.current, overall.metric, overall.total, overall.unit) +
         markdown_head(headline(trend, wide)) + trend_table(trend, wide) + markdown_notes(note_lines(overall, true));
}

void scenario_field(JsonWriter& json, const TrendReport& trend) {
  json.object_or_null("scenario", trend.scenario.has_value(), [&] {
    const bool trips = trend.scenario->kind == Scenario::Kind::round_trips;
    json.field("kind", trips ? "round trips" : "triple");
    json.field_or_null("loops", trips ? std::optional(trend.scenario->loops) : std::nullopt);
    json.field("rows", trend.scenario->rows.size());
    json.field("kept", trend.scenario->kept_total);
  });
}

constexpr std::string_view kind_text(Forecast::Kind kind) {
  constexpr std::string_view kWords[] = {"insufficient points", "reached", "never", "ahead"};
  return kWords[static_cast<std::size_t>(kind)];
}

void forecast_field(JsonWriter& json, const TrendReport& trend) {
  json.object_or_null("forecast", trend.limit.has_value(), [&] {
    const Forecast& forecast = trend.forecast;
    const bool ahead = forecast.kind == Forecast::Kind::ahead;
    json.field("limit", *trend.limit);
    json.field("kind", kind_text(forecast.kind));
    json.field("steps", ahead ? forecast.steps : std::nan(""));
    json.field("soonest", ahead ? forecast.soonest : std::nan(""));
    json.field("latest", ahead ? forecast.latest : std::nan(""));
  });
}

void head_fields(JsonWriter& json, const TrendReport& trend, const document::GrowthView& view) {
  const GrowthReport& overall = trend.series.overall;
  json.field("schema", "snapdiff.trend/1");
  json_view_fields(json, overall);
  json.field("judged", is_judged(trend));
  json.object_rows("snapshots", trend.series.steps, [&](const SeriesStep& step, std::size_t i) {
    json_step_fields(json, step);
    json.field("seconds", i < trend.axis.seconds.size() ? trend.axis.seconds[i] : std::nan(""));
    if (step.other_build) json.field("other_build", true);
  });
  json.field("left_out", static_cast<std::int64_t>(trend.left_out));
  if (trend.left_after > 0) json.field("left_after", static_cast<std::int64_t>(trend.left_after));
  json.field_or_null("restart", trend.restart);
  json.field("step_seconds", trend.axis.step_seconds > 0 ? trend.axis.step_seconds : std::nan(""));
  json.field("even", trend.axis.even());
  json.field_or_null("times", trend.axis.note);
  json.object("total", [&] {
    for (const document::GrowthField& field : document::growth_fields(true)) {
      if (field.column->traits.of_total) json_cell(json, field.column->key, field.column->cell(total_line(view)));
    }
  });
  forecast_field(json, trend);
  scenario_field(json, trend);
  json_story_fields(json, overall);
}

void tail_fields(JsonWriter& json, const TrendReport& trend, const Others& others) {
  json_rest(json, trend.series.overall, others);
  json_listed_once(json, trend.series.overall);
  json_notes(json, trend.series.overall.notes);
}

std::string json_trend(const TrendReport& trend, const Style& style) {
  const Selection selection = select_rows(trend, style);
  const document::GrowthView view{.report = trend.series.overall, .trend = &trend, .verdicts = trend.verdicts};
  const auto fields = fields_of(document::growth_fields(true), view);
  std::string out;
  json_document(
      out, style, "rows", selection.rows, [&](JsonWriter& json) { head_fields(json, trend, view); },
      [&](JsonWriter& json, std::uint32_t row) { json.object([&] { json_cells(json, fields, row_line(view, row)); }); },
      [&](JsonWriter& json) { tail_fields(json, trend, selection.others); });
  return out;
}

}  // namespace

std::string write_trend(const TrendReport& trend, const Style& style) {
  return in_form(
      style.form, [&] { return text_trend(trend, style); }, [&] { return markdown_trend(trend, style); },
      [&] { return csv_trend(trend, style); }, [&] { return json_trend(trend, style); });
}

}  // namespace snapdiff::report
