#include <cmath>

#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/json_story.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

void verdict_fields(JsonWriter& json, const TrendReport& trend, const Verdict& verdict) {
  json.field_or_null("verdict", is_judged(trend) ? std::string_view(verdict.word) : std::string_view());
  json.field_or_null("reason", verdict.reason);
  json.field("p", verdict.p);
  json.field("slope", verdict.slope);
  json.field("slope_low", verdict.slope_low);
  json.field("slope_high", verdict.slope_high);
  json.field("slope_per_hour", trend.axis.per_hour(verdict.slope).value_or(std::nan("")));
  json.field("rise", verdict.rise);
  json.field("by_objects", verdict.by_objects);
  json.field("minor", verdict.minor);
  json.field("doublings", static_cast<std::int64_t>(verdict.doublings));
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
  switch (kind) {
    case Forecast::Kind::none: return "insufficient points";
    case Forecast::Kind::reached: return "reached";
    case Forecast::Kind::never: return "never";
    case Forecast::Kind::ahead: return "ahead";
  }
  return "";
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

void head_fields(JsonWriter& json, const TrendReport& trend) {
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
  json.field_or_null("restart", trend.restart);
  json.field("step_seconds", trend.axis.step_seconds > 0 ? trend.axis.step_seconds : std::nan(""));
  json.field("even", trend.axis.even());
  json.field_or_null("times", trend.axis.note);
  json.object("total", [&] {
    json_change_fields(json, overall.total);
    verdict_fields(json, trend, trend.whole);
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

void row_fields(JsonWriter& json, const TrendReport& trend, std::uint32_t index, std::vector<FrameView>& frames) {
  const GrowthReport& overall = trend.series.overall;
  const GrowthRow& row = overall.rows[index];
  json.field("class", to_text(row.row_class));
  json_change_fields(json, row.value);
  verdict_fields(json, trend, trend.verdicts[index]);
  if (!overall.instances.empty()) json_instances(json, overall.instances[index]);
  json_row_name(json, overall, row, frames);
  json_values(json, overall, index);
  json.key("objects");
  if (index < overall.object_place.size() && overall.object_place[index] != GrowthReport::kNoPlace) {
    json.begin_array();
    for (const std::int64_t count : overall.object_series.values(overall.object_place[index])) json.integer(count);
    json.end_array();
  } else {
    json.null();
  }
  if (trend.scenario) {
    const bool trips = trend.scenario->kind == Scenario::Kind::round_trips;
    json.field("kept", trend.scenario->kept[index]);
    json.field_or_null("least_objects", trips ? std::optional(trend.scenario->least[index]) : std::nullopt);
  }
}

}  // namespace

std::string json_trend(const TrendReport& trend, const Style& style) {
  const Selection selection = select_rows(trend, style);
  std::string out;
  std::vector<FrameView> frames;
  json_document(
      out, style.form, "rows", selection.rows, [&](JsonWriter& json) { head_fields(json, trend); },
      [&](JsonWriter& json, std::uint32_t row) { json.object([&] { row_fields(json, trend, row, frames); }); },
      [&](JsonWriter& json) { tail_fields(json, trend, selection.others); });
  return out;
}

}  // namespace snapdiff::report
