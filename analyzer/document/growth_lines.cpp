#include "analyzer/document/growth_columns.hpp"

// The lines of the table of growth, whose columns growth_columns.cpp declares.

namespace snapdiff::document {
namespace {

std::size_t last_snapshot(const GrowthReport& report) {
  return report.series_length > 2 ? report.series_length - 1 : 1;
}

}  // namespace

std::optional<Change> GrowthLine::cumulative() const {
  if (kind == Kind::row) return view.report.cumulative[number].value;
  return kind == Kind::total ? std::optional(value) : std::nullopt;
}

const Verdict* GrowthLine::verdict() const {
  if (is_row()) return view.verdicts.empty() ? nullptr : &view.verdicts[number];
  return kind == Kind::total && view.trend != nullptr ? &view.trend->whole : nullptr;
}

GrowthLine row_line(const GrowthView& view, std::uint32_t row) {
  const GrowthRow& of = view.report.rows[row];
  return {.view = view, .number = row, .value = of.value, .objects = of.objects, .error = of.error};
}

GrowthLine rest_line(const GrowthView& view, std::string_view name, const Change& value, const Change& objects) {
  return {.view = view, .kind = GrowthLine::Kind::rest, .name = name, .value = value, .objects = objects};
}

std::vector<GrowthLine> unlisted_lines(const GrowthView& view) {
  const GrowthReport& report = view.report;
  std::vector<GrowthLine> lines{rest_line(view, kUnattributed, report.unattributed, report.unattributed_objects)};
  if (report.filtered != Change{} || report.filtered_objects != Change{})
    lines.push_back(rest_line(view, "[filtered out]", report.filtered, report.filtered_objects));
  return lines;
}

GrowthLine total_line(const GrowthView& view) {
  const GrowthReport& report = view.report;
  return {.view = view,
          .kind = GrowthLine::Kind::total,
          .name = "TOTAL",
          .value = report.total,
          .objects = report.total_objects};
}

GrowthLine listed_once_line(const GrowthView& view, std::uint32_t number) {
  return {.view = view, .kind = GrowthLine::Kind::listed_once, .number = number};
}

std::optional<std::int64_t> known_baseline(const ListedOnce& row) {
  return row.first == 0 ? std::optional(row.value.baseline) : std::nullopt;
}

std::optional<std::int64_t> known_current(const ListedOnce& row, const GrowthReport& report) {
  return row.last == last_snapshot(report) ? std::optional(row.value.current) : std::nullopt;
}

std::int64_t per_loop(const TrendReport& trend, std::int64_t growth) {
  return growth / (static_cast<std::int64_t>(trend.series.steps.size()) - 1) / trend.scenario->loops;
}

}  // namespace snapdiff::document
