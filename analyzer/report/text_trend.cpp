#include <cstdio>

#include "analyzer/report/listed_once.hpp"
#include "analyzer/report/names.hpp"
#include "analyzer/report/story_lines.hpp"
#include "analyzer/report/table.hpp"
#include "analyzer/report/trend_parts.hpp"
#include "analyzer/report/writers.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {
namespace {

class TrendTable {
 public:
  TrendTable(const TrendReport& trend, const Style& style)
      : trend_(trend),
        overall_(trend.series.overall),
        style_(style),
        glyphs_(glyphs_for(style.utf8)),
        wide_(style.width >= kWide),
        timed_(wide_ && trend.axis.per_hour(0)),
        selection_(select_rows(trend, style)) {}

  std::string text() {
    TextTable table(
        columns(),
        overall_.options.by == GroupBy::stack ? "stack (leaf first)" : std::string(to_text(overall_.options.by)),
        style_.thousands);
    for (const std::uint32_t row : selection_.rows) fill(row, table.add());
    if (selection_.others.rows > 0) rest(table, others_name(selection_.others), selection_.others.value);
    rest(table, std::string(kUnattributed), overall_.unattributed);
    if (overall_.filtered != Change{}) rest(table, "[filtered out]", overall_.filtered);
    total(table);
    const std::size_t width = table.rest_width(style_.width);
    const std::vector<std::string> texts = row_texts(overall_, selection_.rows, width, glyphs_);
    for (std::size_t i = 0; i < texts.size(); ++i) table.rows()[i].last = texts[i];
    return table.text(style_.colour);
  }

 private:
  std::vector<TextTable::Column> columns() const {
    std::vector<TextTable::Column> columns{{"growth", 9, true, ""}, {"share", 5, true, " "}};
    if (trend_.scenario) {
      if (trips()) {
        columns.push_back({"a round trip", 9, true, "  "});
        columns.push_back({"objects a round", 9, true, "  "});
      } else {
        columns.push_back({"kept", 9, true, "  "});
      }
      if (wide_) columns.push_back(sparkline_column());
      return columns;
    }
    columns.push_back({"a snapshot", 10, true, "  "});
    if (wide_) columns.push_back({std::string(glyphs_.plus_minus), 8, true, " "});
    if (timed_) columns.push_back({"an hour", 9, true, "  "});
    columns.push_back({"p", 4, true, "  "});
    if (wide_) columns.push_back(sparkline_column());
    if (is_judged(trend_)) columns.push_back({"verdict", 7, false, "  "});
    if (!overall_.instances.empty()) columns.push_back({"grew on", 7, true, "  "});
    return columns;
  }

  TextTable::Column sparkline_column() const {
    return {"1 " + std::string(glyphs_.dash) + " " + std::to_string(overall_.series_length), 6, false, "  "};
  }

  bool trips() const { return trend_.scenario->kind == Scenario::Kind::round_trips; }

  void slopes(const Verdict& verdict, TextTable::Row& row) const {
    if (verdict.minor || (verdict.word == "FLAT" && verdict.slope == 0)) {  // not fitted
      row.cells.resize(row.cells.size() + (wide_ ? 2U : 1U) + (timed_ ? 1U : 0U) + 1U);
      return;
    }
    row.cells.push_back({slope_text(trend_, verdict.slope, true), Paint::none});
    if (wide_) row.cells.push_back({slope_text(trend_, band_of(verdict), false), Paint::none});
    if (timed_) row.cells.push_back({slope_text(trend_, *trend_.axis.per_hour(verdict.slope), true), Paint::none});
    char p[16];
    std::snprintf(p, sizeof p, "%.2f", verdict.p);
    row.cells.push_back({p, Paint::none});
  }

  std::string share(const Change& value) const {
    const std::int64_t growth = value.growth();
    return growth > 0 && overall_.grew > 0 ? snapdiff::percent_text(growth, overall_.grew) : "";
  }

  void fill(std::uint32_t index, TextTable::Row& row) const {
    const GrowthRow& r = overall_.rows[index];
    const Verdict& verdict = trend_.verdicts[index];
    row.cells = {{snapdiff::value_text(r.value.growth(), overall_.unit, true), growth_paint(r.value.growth())},
                 {share(r.value), Paint::none}};
    if (trend_.scenario) {
      keep(index, row);
    } else {
      slopes(verdict, row);
    }
    if (wide_) {
      const std::vector<std::int64_t> values = overall_.series.values(index);
      row.cells.push_back({sparkline(values.data(), values.size(), kSparkWidth, style_.utf8), Paint::none});
    }
    if (is_judged(trend_) && !trend_.scenario)
      row.cells.push_back({verdict.minor ? "minor" : verdict.word, verdict_paint(verdict.word)});
    if (!overall_.instances.empty() && !trend_.scenario)
      row.cells.push_back({instances_text(overall_.instances[index]), Paint::none});
  }

  /// What the scenario left at this row.
  void keep(std::uint32_t index, TextTable::Row& row) const {
    const Scenario& scenario = *trend_.scenario;
    const std::int64_t kept = scenario.kept[index];
    if (trips()) {
      row.cells.push_back({snapdiff::value_text(per_loop(trend_, kept), overall_.unit, true), Paint::none});
      row.cells.push_back({">= " + snapdiff::count_text(scenario.least[index]), Paint::none});
    } else {
      row.cells.push_back({snapdiff::value_text(kept, overall_.unit, true), Paint::none});
    }
  }

  void rest(TextTable& table, std::string name, const Change& value) const {
    TextTable::Row& row = table.add();
    row.cells.assign(columns().size(), {});
    row.cells[0].text = snapdiff::value_text(value.growth(), overall_.unit, true);
    row.last = std::move(name);
  }

  void total(TextTable& table) const {
    std::vector<std::int64_t> totals;
    for (const SeriesStep& step : trend_.series.steps) totals.push_back(step.total);
    TextTable::Row& row = table.add();
    row.cells = {{snapdiff::value_text(overall_.total.growth(), overall_.unit, true), Paint::bold}, {"", Paint::none}};
    if (trend_.scenario) {
      row.cells.resize(trips() ? 4 : 3);
    } else {
      slopes(trend_.whole, row);
    }
    if (wide_) row.cells.push_back({sparkline(totals.data(), totals.size(), kSparkWidth, style_.utf8), Paint::none});
    // One stack that comes and goes would decide the total's verdict: it gets none.
    if (is_judged(trend_) && !trend_.scenario) row.cells.push_back({"", Paint::none});
    if (!overall_.instances.empty() && !trend_.scenario) row.cells.push_back({"", Paint::none});
    row.last = "TOTAL";
  }

  const TrendReport& trend_;
  const GrowthReport& overall_;
  const Style& style_;
  Glyphs glyphs_;
  bool wide_;
  bool timed_;
  Selection selection_;
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
    out += wrapped(name + " " + verdict.word + ": " + printable(verdict.reason, style.utf8), style.width, 2) + "\n";
  }
  return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string text_trend(const TrendReport& trend, const Style& style) {
  std::string out = headline_text(headline(trend, style), style) + "\n";
  out += TrendTable(trend, style).text();
  out += listed_once_text(trend.series.overall, style);
  out += reasons(trend, style);
  return out + text_end(note_lines(trend.series.overall, style.utf8), style);
}

}  // namespace snapdiff::report
