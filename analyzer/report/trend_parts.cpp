#include "analyzer/report/trend_parts.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/base/number_text.hpp"
#include "analyzer/document/growth_columns.hpp"
#include "analyzer/report/headline.hpp"

namespace snapdiff::report {
namespace {

std::string steps_text(double steps) { return counted(std::llround(std::min(steps, 9e15)), "snapshot"); }

HeadLine forecast_line(const TrendReport& trend) {
  const std::string limit = value_text(*trend.limit, trend.series.overall.unit);
  return {"forecast", {{limit + forecast_text(trend.forecast, trend.axis.step_seconds), Paint::none}}};
}

HeadLine scenario_line(const TrendReport& trend) {
  const Scenario& scenario = *trend.scenario;
  const GrowthReport& overall = trend.series.overall;
  const std::string rows = counted(scenario.rows.size(), std::string(to_text(overall.options.by)));
  std::string text;
  if (scenario.kind == Scenario::Kind::triple) {
    text = rows + " of which the final snapshot still holds what the target added: " +
           value_text(scenario.kept_total, overall.unit, true);
  } else {
    const auto rounds = static_cast<std::int64_t>(trend.series.steps.size()) - 1;
    text = rows + " left " + counted(scenario.loops, "object") + " or more in each of " + counted(rounds, "round");
    if (scenario.kept_total != 0)
      text += ": " + value_text(scenario.kept_total, overall.unit, true) + " in all, " +
              value_text(document::per_loop(trend, scenario.kept_total), overall.unit, true) + " a round trip";
  }
  return {"scenario", {{text, scenario.rows.empty() ? Paint::none : Paint::alarm}}};
}

Selection select_scenario(const TrendReport& trend, const Style& style) {
  const GrowthReport& overall = trend.series.overall;
  const std::size_t limit = most_rows(overall, style);
  Selection out;
  std::vector<bool> shown(overall.rows.size(), false);
  for (const std::uint32_t row : trend.scenario->rows) {
    const std::int64_t growth = overall.rows[row].value.growth();
    if (out.rows.size() == limit || (style.min_bytes > 0 && growth < style.min_bytes && -growth < style.min_bytes))
      continue;
    out.rows.push_back(row);
    shown[row] = true;
  }
  for (std::size_t row = 0; row < shown.size(); ++row) {
    if (shown[row]) continue;
    add(out.others, overall.rows[row]);
  }
  return out;
}

}  // namespace

std::string forecast_text(const Forecast& forecast, double step) {
  switch (forecast.kind) {
    case Forecast::Kind::none: return ": insufficient points to say when";
    case Forecast::Kind::reached: return " is reached already";
    case Forecast::Kind::never: return ": never, as far as these snapshots say: nothing is GROWING";
    case Forecast::Kind::ahead: break;
  }
  std::string text = " in " + steps_text(forecast.steps) + " (" +
                     std::to_string(std::llround(std::min(forecast.soonest, 9e15))) + " to " +
                     std::to_string(std::llround(std::min(forecast.latest, 9e15))) + ")";
  if (step > 0)
    text += ", that is " + duration_text(forecast.steps * step) + " (" + duration_text(forecast.soonest * step) +
            " to " + duration_text(forecast.latest * step) + ")";
  return text;
}

Selection select_rows(const TrendReport& trend, const Style& style) {
  if (trend.scenario) return select_scenario(trend, style);
  const GrowthReport& overall = trend.series.overall;
  const bool for_people = style.form == Form::text || style.form == Form::markdown;
  const std::size_t limit = most_rows(overall, style);
  Selection out;
  std::size_t before = style.first_row;
  for (const std::uint32_t row : trend.order) {
    const Verdict& verdict = trend.verdicts[row];
    const std::int64_t growth = overall.rows[row].value.growth();
    const bool flat =
        for_people && style.max_rows != 0 && (verdict.word == "FLAT" || verdict.word.empty()) && growth == 0;
    const bool small = style.min_bytes > 0 && growth < style.min_bytes && -growth < style.min_bytes;
    if (before > 0 && !flat && !small) {
      --before;
    } else if (out.rows.size() < limit && !flat && !small) {
      out.rows.push_back(row);
      continue;
    }
    add(out.others, overall.rows[row]);
  }
  return out;
}

std::vector<HeadLine> headline(const TrendReport& trend, const Style& style) {
  std::vector<HeadLine> lines = headline(trend.series.overall, style);
  // A scenario is judged by a rule of its own, however few its snapshots.
  if (trend.scenario) std::erase_if(lines, [](const HeadLine& line) { return line.label == "verdict"; });
  std::vector<HeadLine> more;
  if (trend.scenario) more.push_back(scenario_line(trend));
  if (trend.limit) more.push_back(forecast_line(trend));
  if (!trend.restart.empty()) {
    std::string left_out;
    if (trend.left_out > 0) left_out = counted(trend.left_out, "snapshot") + " before";
    if (trend.left_after > 0)
      left_out += (left_out.empty() ? "" : ", ") + counted(trend.left_after, "snapshot") + " after";
    more.push_back({"restart", {{left_out + " left out: " + printable(trend.restart, style.utf8), Paint::none}}});
  }
  if (std::string from = releases_text(trend.series, trend.left_out, style.utf8); !from.empty())
    more.push_back({"releases", {{std::move(from), Paint::none}}});
  if (!trend.axis.note.empty()) more.push_back({"times", {{trend.axis.note, Paint::none}}});
  lines.insert(lines.begin() + 1, more.begin(), more.end());
  return lines;
}

}  // namespace snapdiff::report
