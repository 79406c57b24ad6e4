#include <cmath>
#include <cstdio>

#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/selection.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "analyzer/report/writers.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {
namespace {

/// A row, one that completes the sum, or the total.
struct TrendLine {
  Change value;
  std::string name;                  ///< "[2 others]", "TOTAL"; else the row's stack or key
  std::uint32_t row = 0;             ///< where there is no name
  const Verdict* verdict = nullptr;  ///< of the rows and the total
  bool is_row() const { return name.empty(); }
};

class TrendSheet {
 public:
  using Cell = Sheet::Cell;

  TrendSheet(const TrendReport& trend, const Style& style)
      : trend_(trend),
        overall_(trend.series.overall),
        style_(style),
        glyphs_(glyphs_for(style.utf8)),
        wide_(style.width >= kWide),
        judged_(is_judged(trend) && !trend.scenario),
        selection_(select_rows(trend, style)) {
    for (const std::uint32_t row : selection_.rows)
      lines_.push_back({overall_.rows[row].value, "", row, &trend.verdicts[row]});
    if (selection_.others.rows > 0) lines_.push_back({selection_.others.value, others_name(selection_.others)});
    lines_.push_back({overall_.unattributed, std::string(kUnattributed)});
    if (overall_.filtered != Change{}) lines_.push_back({overall_.filtered, "[filtered out]"});
    lines_.push_back({overall_.total, "TOTAL", 0, &trend.whole});
  }

  std::string text() const {
    Sheet sheet(last_header(), style_.thousands);
    growth(sheet);
    sheet.column({"share", 5, true, " "}, lines_, [&](const TrendLine& line) { return Cell{share(line)}; });
    trend_.scenario ? kept(sheet) : slopes(sheet);
    if (wide_)
      sheet.column({"1 " + std::string(glyphs_.dash) + " " + std::to_string(overall_.series_length), 6, false, "  "},
                   lines_, [&](const TrendLine& line) { return Cell{spark(line)}; });
    if (judged_)
      sheet.column({"verdict", 7, false, "  "}, lines_, [](const TrendLine& line) {
        // One stack that comes and goes would decide the total's verdict: it gets none.
        if (!line.is_row()) return Cell{};
        return Cell{line.verdict->minor ? "minor" : line.verdict->word, verdict_paint(line.verdict->word)};
      });
    if (!overall_.instances.empty() && !trend_.scenario)
      sheet.column({"grew on", 7, true, "  "}, lines_, [&](const TrendLine& line) {
        return line.is_row() ? Cell{instances_text(overall_.instances[line.row])} : Cell{};
      });
    for (std::size_t i = selection_.rows.size(); i < lines_.size(); ++i) sheet.rows()[i].last = lines_[i].name;
    sheet.call(row_texts(overall_, selection_.rows, sheet.rest_width(style_.width), glyphs_));
    return sheet.text(style_.colour);
  }

  std::string markdown() const {
    Sheet sheet(last_header());
    growth(sheet);
    const auto of_verdict = [&](const std::string& header, bool right, const auto& text_of) {
      sheet.column({header, 0, right}, lines_, [&](const TrendLine& line) {
        return line.verdict == nullptr ? Cell{} : Cell{text_of(*line.verdict)};
      });
    };
    if (trend_.scenario) {
      sheet.column({"kept"}, lines_, [&](const TrendLine& line) {
        return line.is_row() ? Cell{value(trend_.scenario->kept[line.row])} : Cell{};
      });
    } else {
      of_verdict("a snapshot", true, [&](const Verdict& v) { return slope_text(trend_, v.slope, true); });
      of_verdict("±", true, [&](const Verdict& v) { return slope_text(trend_, band_of(v), false); });
      of_verdict("p", true, [](const Verdict& v) { return share_text(v.p); });
    }
    if (judged_) of_verdict("verdict", false, [](const Verdict& v) { return literal(v.word); });
    for (std::size_t i = selection_.rows.size(); i < lines_.size(); ++i)
      sheet.rows()[i].last = lines_[i].name == "TOTAL" ? "**TOTAL**" : literal(lines_[i].name);
    std::vector<std::string> names = row_texts(overall_, selection_.rows, kMarkdownName, glyphs_);
    for (std::string& name : names) name = literal(name);
    sheet.call(names);
    return sheet.markdown();
  }

 private:
  std::string last_header() const {
    return overall_.options.by == GroupBy::stack ? "stack (leaf first)" : std::string(to_text(overall_.options.by));
  }
  std::string value(std::int64_t growth) const { return value_text(growth, overall_.unit, true); }

  void growth(Sheet& sheet) const {
    sheet.column({"growth", 9, true, ""}, lines_, [&](const TrendLine& line) {
      const std::int64_t growth = line.value.growth();
      return Cell{value(growth), line.is_row()             ? growth_paint(growth)
                                 : line.verdict != nullptr ? Paint::bold
                                                           : Paint::none};
    });
  }

  std::string share(const TrendLine& line) const {
    const std::int64_t growth = line.value.growth();
    return line.is_row() && growth > 0 && overall_.grew > 0 ? percent_text(growth, overall_.grew) : "";
  }

  /// What the scenario left at each row.
  void kept(Sheet& sheet) const {
    const Scenario& scenario = *trend_.scenario;
    const auto of_row = [&](const std::string& header, const auto& text_of) {
      sheet.column({header, 9, true, "  "}, lines_,
                   [&](const TrendLine& line) { return line.is_row() ? Cell{text_of(line.row)} : Cell{}; });
    };
    if (scenario.kind == Scenario::Kind::triple) {
      of_row("kept", [&](std::uint32_t row) { return value(scenario.kept[row]); });
      return;
    }
    of_row("a round trip", [&](std::uint32_t row) { return value(per_loop(trend_, scenario.kept[row])); });
    of_row("objects a round", [&](std::uint32_t row) { return ">= " + count_text(scenario.least[row]); });
  }

  void slopes(Sheet& sheet) const {
    const auto of_fit = [&](const std::string& header, std::size_t width, const std::string& separator,
                            const auto& text_of) {
      sheet.column({header, width, true, separator}, lines_, [&](const TrendLine& line) {
        const Verdict* const verdict = line.verdict;
        const bool fitted = verdict != nullptr && !verdict->minor && (verdict->word != "FLAT" || verdict->slope != 0);
        return fitted ? Cell{text_of(*verdict)} : Cell{};
      });
    };
    of_fit("a snapshot", 10, "  ", [&](const Verdict& v) { return slope_text(trend_, v.slope, true); });
    if (wide_)
      of_fit(std::string(glyphs_.plus_minus), 8, " ",
             [&](const Verdict& v) { return slope_text(trend_, band_of(v), false); });
    if (wide_ && trend_.axis.per_hour(0))
      of_fit("an hour", 9, "  ",
             [&](const Verdict& v) { return slope_text(trend_, *trend_.axis.per_hour(v.slope), true); });
    of_fit("p", 4, "  ", [](const Verdict& v) {
      char p[16];
      std::snprintf(p, sizeof p, "%.2f", v.p);
      return std::string(p);
    });
  }

  std::string spark(const TrendLine& line) const {
    std::vector<std::int64_t> values;
    if (line.is_row()) {
      values = overall_.series.values(line.row);
    } else if (line.verdict != nullptr) {
      for (const SeriesStep& step : trend_.series.steps) values.push_back(step.total);
    }
    return sparkline(values.data(), values.size(), kSparkWidth, style_.utf8);
  }

  const TrendReport& trend_;
  const GrowthReport& overall_;
  const Style& style_;
  Glyphs glyphs_;
  bool wide_;
  bool judged_;
  Selection selection_;
  std::vector<TrendLine> lines_;
};

/// Why the leading rows are what they are.
std::string reasons(const TrendReport& trend, const Style& style) {
  constexpr std::size_t kTold = 3;
  if (!is_judged(trend) || trend.scenario) return {};
  const Glyphs glyphs = glyphs_for(style.utf8);
  const GrowthReport& overall = trend.series.overall;
  std::string out;
  std::vector<FrameView> frames;
  std::size_t given = 0;
  for (const std::uint32_t index : trend.order) {
    const Verdict& verdict = trend.verdicts[index];
    if (verdict.word != "GROWING" && verdict.word != "RISING") continue;
    if (++given > kTold) break;
    std::string name;
    if (overall.options.by == GroupBy::stack) {
      overall.frames(overall.rows[index], frames);
      name = frames.empty() ? "[filtered out]" : frame_name(frames.front(), glyphs);
    } else {
      name = key_text(overall.keys[overall.rows[index].key], overall.options.by, 40, glyphs);
    }
    out += wrapped_line(name + " " + verdict.word + ": " + printable(verdict.reason, style.utf8), style);
  }
  return out.empty() ? out : "\n" + out;
}

std::string text_trend(const TrendReport& trend, const Style& style) {
  std::string out = headline_text(headline(trend, style), style) + "\n";
  out += TrendSheet(trend, style).text();
  out += listed_once_text(trend.series.overall, style);
  out += reasons(trend, style);
  return out + text_end(note_lines(trend.series.overall, style.utf8), style);
}

std::string markdown_trend(const TrendReport& trend, const Style& style) {
  const GrowthReport& overall = trend.series.overall;
  const Style wide = unwrapped(style);
  return markdown_title(overall.baseline, overall.current, overall.metric, overall.total, overall.unit) +
         markdown_head(headline(trend, wide)) + TrendSheet(trend, wide).markdown() +
         markdown_notes(note_lines(overall, true));
}

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
  if (trend.left_after > 0) json.field("left_after", static_cast<std::int64_t>(trend.left_after));
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

}  // namespace

std::string write_trend(const TrendReport& trend, const Style& style) {
  return in_form(
      style.form, [&] { return text_trend(trend, style); }, [&] { return markdown_trend(trend, style); },
      [&] { return csv_trend(trend, style); }, [&] { return json_trend(trend, style); });
}

}  // namespace snapdiff::report
