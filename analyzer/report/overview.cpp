#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analyzer/base/number_text.hpp"
#include "analyzer/base/overview.hpp"
#include "analyzer/base/words.hpp"
#include "analyzer/report/csv_record.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_writer.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/text_tools.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

constexpr std::size_t kOverviewBars = 12;
constexpr std::size_t kSeriesName = 32;

std::string overview_culprit(const OverviewRow& row, bool utf8) {
  std::string text = plain_text(row.culprit, utf8);
  if (!row.place.empty()) text += "  " + plain_text(row.place, utf8);
  if (!row.share.empty()) text += "  " + plain_text(Span{row.share, false}, utf8);
  if (!row.note.empty()) text += (text.empty() ? "" : "  ") + std::string("(") + printable(row.note, utf8) + ")";
  return text;
}

Sheet overview_sheet(const Overview& overview, const Style& style, const auto& safe) {
  using Cell = Sheet::Cell;
  const Glyphs glyphs = glyphs_for(style.utf8);
  Sheet sheet("first culprit", style.thousands);
  const std::vector<OverviewRow>& rows = overview.rows;
  sheet.column({"series", 6, false, ""}, rows, [&](const OverviewRow& row) {
    return Cell{safe(cut_middle(printable(row.name, style.utf8), kSeriesName, glyphs.ellipsis))};
  });
  sheet.column({"verdict", 7, false, "  "}, rows, [](const OverviewRow& row) {
    return Cell{row.verdict, verdict_paint(row.verdict)};
  });
  sheet.column({"total", 8, true, "  "}, rows, [](const OverviewRow& row) {
    return Cell{row.values.empty() ? "" : value_text(row.total.current, row.unit)};
  });
  sheet.column({"growth", 9, true, "  "}, rows, [](const OverviewRow& row) {
    if (row.values.size() < 2) return Cell{};
    return Cell{value_text(row.total.growth(), row.unit, true), growth_paint(row.total.growth())};
  });
  sheet.column({"rate", 4, true, "  "}, rows, [](const OverviewRow& row) { return Cell{overview_rate(row)}; });
  if (overview.limit)
    sheet.column({"to limit", 8, true, "  "}, rows,
                 [](const OverviewRow& row) { return Cell{overview_to_limit(row)}; });
  sheet.column({"over time", kOverviewBars, false, "  "}, rows, [&](const OverviewRow& row) {
    return Cell{row.values.size() < 2 ? ""
                                      : sparkline(row.values.data(), row.values.size(), kOverviewBars, style.utf8)};
  });
  std::vector<std::string> culprits;
  for (const OverviewRow& row : rows) culprits.push_back(safe(overview_culprit(row, style.utf8)));
  sheet.call(culprits);
  return sheet;
}

std::string text_overview(const Overview& overview, const Style& style) {
  std::size_t growing = 0;
  for (const OverviewRow& row : overview.rows) growing += row.verdict == "GROWING" ? 1U : 0U;
  return std::to_string(overview.rows.size()) + " series, " + std::to_string(growing) + " GROWING\n\n" +
         overview_sheet(overview, style, [](std::string text) { return text; }).text(style.colour);
}

std::string json_overview(const Overview& overview) {
  return json_text([&](JsonWriter& json) {
    json.field("schema", "snapdiff.overview/1");
    json.field_or_null("limit", overview.limit);
    json.object_rows("series", overview.rows, [&](const OverviewRow& row) {
      json.field("name", row.name);
      json.field("snapshots", row.snapshots);
      json.field_or_null("verdict", row.verdict);
      json.field_or_null("unit", row.unit);
      json.field("baseline", row.total.baseline);
      json.field("current", row.total.current);
      json.field("growth", row.total.growth());
      json.field("slope", row.slope);
      json.field("slope_per_hour", row.per_hour.value_or(std::nan("")));
      json.array("values", row.values, [&](std::int64_t value) { json.integer(value); });
      json.field_or_null("culprit", plain_text(row.culprit));
      json.field_or_null("place", plain_text(row.place));
      json.field_or_null("to_limit", overview_to_limit(row));
      json.field_or_null("note", row.note);
    });
  });
}

std::string csv_overview(const Overview& overview) {
  std::string text =
      "series,verdict,snapshots,unit,baseline,current,growth,slope,slope_per_hour,culprit,place,to_limit,note\r\n";
  for (const OverviewRow& row : overview.rows) {
    Record record(text);
    record.text(row.name);
    record.text(row.verdict);
    record.number(static_cast<std::int64_t>(row.snapshots));
    record.text(row.unit);
    record.number(row.total.baseline);
    record.number(row.total.current);
    record.number(row.total.growth());
    record.number_if(row.values.size() > 1, std::llround(row.slope));
    record.number_if(row.per_hour.has_value(), std::llround(row.per_hour.value_or(0)));
    record.text(plain_text(row.culprit));
    record.text(plain_text(row.place));
    record.text(overview_to_limit(row));
    record.text(row.note);
  }
  return text;
}

}  // namespace

std::string overview_to_limit(const OverviewRow& row) {
  if (!row.forecast) return {};
  switch (row.forecast->kind) {
    case Forecast::Kind::none: return {};
    case Forecast::Kind::reached: return "reached";
    case Forecast::Kind::never: return "never";
    case Forecast::Kind::ahead: break;
  }
  const double steps = row.forecast->steps;
  if (row.step_seconds > 0) return duration_text(steps * row.step_seconds);
  return counted(std::llround(std::min(steps, 9e15)), "snapshot");
}

std::string overview_rate(const OverviewRow& row) {
  if (row.values.size() < 2) return {};
  const double slope = row.per_hour.value_or(row.slope);
  return value_text(std::llround(slope), row.unit, true) + (row.per_hour ? " an hour" : " a snapshot");
}

std::string write_overview(const Overview& overview, const Style& style) {
  return in_form(
      style.form, [&] { return text_overview(overview, style); },
      [&] {
        return overview_sheet(overview, unwrapped(style), [](const std::string& text) { return literal(text); })
            .markdown();
      },
      [&] { return csv_overview(overview); }, [&] { return json_overview(overview); });
}

}  // namespace snapdiff::report
