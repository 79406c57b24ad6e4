#include "analyzer/report/listed_once.hpp"

#include <algorithm>

#include "analyzer/report/headline.hpp"
#include "analyzer/report/names.hpp"
#include "analyzer/report/table.hpp"
#include "analyzer/report/text_tools.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {
namespace {

std::size_t last_snapshot(const GrowthReport& report) {
  return report.series_length > 2 ? report.series_length - 1 : 1;
}

/// "+2.3 MiB in 3 … 8": what is known of it between, where that is more than one snapshot.
std::string known_growth(const ListedOnce& row, const GrowthReport& report, const Glyphs& glyphs) {
  if (row.first == row.last) return {};
  return snapdiff::value_text(row.value.growth(), report.unit, true) + " in " + std::to_string(row.first + 1) + " " +
         std::string(glyphs.ellipsis) + " " + std::to_string(row.last + 1);
}

std::string stack_of(const ListedOnce& row, const GrowthReport& report, std::size_t width, const Glyphs& glyphs) {
  std::vector<FrameView> frames;
  report.view->frames(row.stack, frames);
  return stack_cell(frames, width, glyphs).text;
}

}  // namespace

std::string value_or_unknown(const std::optional<std::int64_t>& value, const std::string& unit) {
  return value ? snapdiff::value_text(*value, unit) : "?";
}

std::string listed_once_heading(const GrowthReport& report) {
  return counted(static_cast<std::int64_t>(report.listed_once.size()), "stack") +
         " listed at one end only, growth unknown";
}

std::size_t listed_once_shown(const GrowthReport& report, const Style& style) {
  return style.max_rows == 0 ? report.listed_once.size() : std::min(style.max_rows, report.listed_once.size());
}

std::optional<std::int64_t> known_baseline(const ListedOnce& row, const GrowthReport&) {
  return row.first == 0 ? std::optional(row.value.baseline) : std::nullopt;
}

std::optional<std::int64_t> known_current(const ListedOnce& row, const GrowthReport& report) {
  return row.last == last_snapshot(report) ? std::optional(row.value.current) : std::nullopt;
}

std::string listed_once_text(const GrowthReport& report, const Style& style) {
  if (report.listed_once.empty()) return {};
  const Glyphs glyphs = glyphs_for(style.utf8);
  const bool series = std::any_of(report.listed_once.begin(), report.listed_once.end(),
                                  [](const ListedOnce& row) { return row.first != row.last; });
  std::vector<TextTable::Column> columns{{"before", 9, true, ""}, {"after", 9, true, spaced(glyphs.arrow)}};
  if (series) columns.push_back({"known", 9, true, "  "});
  TextTable table(columns, "stack (leaf first)", style.thousands);
  const std::size_t shown = listed_once_shown(report, style);
  for (std::size_t i = 0; i < shown; ++i) {
    const ListedOnce& row = report.listed_once[i];
    TextTable::Row& line = table.add();
    line.cells = {{value_or_unknown(known_baseline(row, report), report.unit), Paint::none},
                  {value_or_unknown(known_current(row, report), report.unit), Paint::none}};
    if (series) line.cells.push_back({known_growth(row, report, glyphs), growth_paint(row.value.growth())});
  }
  const std::size_t width = table.rest_width(style.width);
  for (std::size_t i = 0; i < shown; ++i) table.rows()[i].last = stack_of(report.listed_once[i], report, width, glyphs);
  if (shown < report.listed_once.size()) {
    TextTable::Row& rest = table.add();
    rest.cells.resize(columns.size());
    rest.last = others_text(static_cast<std::int64_t>(report.listed_once.size() - shown));
  }
  return "\n" + listed_once_heading(report) + ":\n\n" + table.text(style.colour);
}

}  // namespace snapdiff::report
