#include <cmath>

#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/json_story.hpp"
#include "analyzer/report/output.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

void verdict_fields(JsonWriter& json, const TrendReport& trend, const Verdict& verdict) {
  json.field_or_null("verdict", is_judged(trend) ? std::string_view(verdict.word) : std::string_view());
  json.field_or_null("reason", verdict.reason);
  const auto number = [&](std::string_view name, double value) {
    json.key(name);
    json.number(value);
  };
  number("p", verdict.p);
  number("slope", verdict.slope);
  number("slope_low", verdict.slope_low);
  number("slope_high", verdict.slope_high);
  number("slope_per_hour", trend.axis.per_hour(verdict.slope).value_or(std::nan("")));
  number("rise", verdict.rise);
  json.key("by_objects");
  json.boolean(verdict.by_objects);
  json.key("minor");
  json.boolean(verdict.minor);
  json.field("doublings", static_cast<std::int64_t>(verdict.doublings));
}

void scenario_field(JsonWriter& json, const TrendReport& trend) {
  json.key("scenario");
  if (!trend.scenario) {
    json.null();
    return;
  }
  const bool trips = trend.scenario->kind == Scenario::Kind::round_trips;
  json.begin_object();
  json.field("kind", trips ? "round trips" : "triple");
  json.field_or_null("loops", trips ? std::optional(trend.scenario->loops) : std::nullopt);
  json.field("rows", static_cast<std::int64_t>(trend.scenario->rows.size()));
  json.field("kept", trend.scenario->kept_total);
  json.end_object();
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
  json.key("forecast");
  if (!trend.limit) {
    json.null();
    return;
  }
  const Forecast& forecast = trend.forecast;
  const bool ahead = forecast.kind == Forecast::Kind::ahead;
  json.begin_object();
  json.field("limit", *trend.limit);
  json.field("kind", kind_text(forecast.kind));
  for (const auto& [name, steps] : {std::pair("steps", forecast.steps), std::pair("soonest", forecast.soonest),
                                    std::pair("latest", forecast.latest)}) {
    json.key(name);
    json.number(ahead ? steps : std::nan(""));
  }
  json.end_object();
}

void head_fields(JsonWriter& json, const TrendReport& trend) {
  const GrowthReport& overall = trend.series.overall;
  json.field("schema", "snapdiff.trend/1");
  json.field("metric", overall.metric);
  json.field("unit", overall.unit);
  json.field("by", to_text(overall.options.by));
  if (overall.options.by == GroupBy::label) json.field("label", overall.options.label_key);
  json.key("judged");
  json.boolean(is_judged(trend));
  json.key("snapshots");
  json.begin_array();
  for (std::size_t i = 0; i < trend.series.steps.size(); ++i) {
    const SeriesStep& step = trend.series.steps[i];
    json.new_line();
    json.begin_object();
    json.field("ref", step.snapshot.ref);
    json.field("total", step.total);
    json.field_or_null("objects", step.objects);
    json.field("growth", step.growth);
    json.key("seconds");
    json.number(i < trend.axis.seconds.size() ? trend.axis.seconds[i] : std::nan(""));
    if (step.other_build) json.field("other_build", true);
    json.end_object();
  }
  json.end_array();
  json.field("left_out", static_cast<std::int64_t>(trend.left_out));
  json.field_or_null("restart", trend.restart);
  json.key("step_seconds");
  json.number(trend.axis.step_seconds > 0 ? trend.axis.step_seconds : std::nan(""));
  json.key("even");
  json.boolean(trend.axis.even());
  json.field_or_null("times", trend.axis.note);
  json.key("total");
  json.begin_object();
  json_change_fields(json, overall.total);
  verdict_fields(json, trend, trend.whole);
  json.end_object();
  forecast_field(json, trend);
  scenario_field(json, trend);
  json_story_fields(json, overall);
}

void tail_fields(JsonWriter& json, const TrendReport& trend, const Others& others) {
  json_rest(json, trend.series.overall, others);
  json_listed_once(json, trend.series.overall);
  json_notes(json, trend.series.overall.notes);
}

void row_object(JsonWriter& json, const TrendReport& trend, std::uint32_t index, std::vector<FrameView>& frames) {
  const GrowthReport& overall = trend.series.overall;
  const GrowthRow& row = overall.rows[index];
  json.begin_object();
  json.field("class", to_text(row.row_class));
  json_change_fields(json, row.value);
  verdict_fields(json, trend, trend.verdicts[index]);
  if (!overall.instances.empty()) json_instances(json, overall.instances[index]);
  if (overall.options.by == GroupBy::stack) {
    overall.frames(row, frames);
    json_stack(json, "stack", frames);
  } else {
    json.field("key", overall.keys[row.key]);
  }
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
  json.end_object();
}

}  // namespace

void json_trend(const TrendReport& trend, const Style& style, const Sink& sink) {
  const Selection selection = select_rows(trend, style);
  Output out(sink);
  std::vector<FrameView> frames;
  if (style.form == Form::jsonl) {
    {
      JsonWriter json(out.text(), true);
      json.begin_object();
      head_fields(json, trend);
      tail_fields(json, trend, selection.others);
      json.end_object();
      out.text() += '\n';
    }
    for (const std::uint32_t row : selection.rows) {
      JsonWriter json(out.text(), true);
      row_object(json, trend, row, frames);
      out.text() += '\n';
      out.row_done();
    }
    return;
  }
  JsonWriter json(out.text());
  json.begin_object();
  head_fields(json, trend);
  json.key("rows");
  json.begin_array();
  for (const std::uint32_t row : selection.rows) {
    json.new_line();
    row_object(json, trend, row, frames);
    out.row_done();
  }
  json.end_array();
  tail_fields(json, trend, selection.others);
  json.end_object();
  out.text() += '\n';
}

}  // namespace snapdiff::report
