#include "analyzer/report/selection.hpp"

#include <algorithm>
#include <span>

#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/sheet.hpp"
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
  return value_text(row.value.growth(), report.unit, true) + " in " + std::to_string(row.first + 1) + " " +
         std::string(glyphs.ellipsis) + " " + std::to_string(row.last + 1);
}

std::string stack_of(const ListedOnce& row, const GrowthReport& report, std::size_t width, const Glyphs& glyphs) {
  std::vector<FrameView> frames;
  report.view->frames(row.stack, frames);
  return stack_cell(frames, width, glyphs).text;
}

std::string value_or_unknown(const std::optional<std::int64_t>& value, const std::string& unit) {
  return value ? value_text(*value, unit) : "?";
}

std::string listed_once_heading(const GrowthReport& report) {
  return counted(report.listed_once.size(), "stack") + " listed at one end only, growth unknown";
}

std::span<const ListedOnce> shown_rows(const GrowthReport& report, const Style& style) {
  return std::span(report.listed_once).first(shown_of(report.listed_once.size(), style));
}

Sheet known_values(const GrowthReport& report, std::span<const ListedOnce> shown, const Glyphs& glyphs,
                   std::string_view thousands) {
  Sheet sheet("stack (leaf first)", thousands);
  sheet.column({"before", 9, true, ""}, shown, [&](const ListedOnce& row) {
    return Sheet::Cell{value_or_unknown(known_baseline(row, report), report.unit)};
  });
  sheet.column({"after", 9, true, spaced(glyphs.arrow)}, shown, [&](const ListedOnce& row) {
    return Sheet::Cell{value_or_unknown(known_current(row, report), report.unit)};
  });
  return sheet;
}

}  // namespace

std::optional<std::int64_t> known_baseline(const ListedOnce& row, const GrowthReport&) {
  return row.first == 0 ? std::optional(row.value.baseline) : std::nullopt;
}

std::optional<std::int64_t> known_current(const ListedOnce& row, const GrowthReport& report) {
  return row.last == last_snapshot(report) ? std::optional(row.value.current) : std::nullopt;
}

std::string listed_once_text(const GrowthReport& report, const Style& style) {
  if (report.listed_once.empty()) return {};
  const Glyphs glyphs = glyphs_for(style.utf8);
  const std::span<const ListedOnce> shown = shown_rows(report, style);
  Sheet sheet = known_values(report, shown, glyphs, style.thousands);
  if (std::ranges::any_of(report.listed_once, [](const ListedOnce& row) { return row.first != row.last; }))
    sheet.column({"known", 9, true, "  "}, shown, [&](const ListedOnce& row) {
      return Sheet::Cell{known_growth(row, report, glyphs), growth_paint(row.value.growth())};
    });
  const std::size_t width = sheet.rest_width(style.width);
  for (std::size_t i = 0; i < shown.size(); ++i) sheet.rows()[i].last = stack_of(shown[i], report, width, glyphs);
  if (shown.size() < report.listed_once.size())
    sheet.add().last = others_text(report.listed_once.size() - shown.size());
  return "\n" + listed_once_heading(report) + ":\n\n" + sheet.text(style.colour);
}

std::string listed_once_markdown(const GrowthReport& report, const Style& style) {
  if (report.listed_once.empty()) return {};
  const Glyphs glyphs = glyphs_for(true);
  const std::span<const ListedOnce> shown = shown_rows(report, style);
  Sheet sheet = known_values(report, shown, glyphs, {});
  for (std::size_t i = 0; i < shown.size(); ++i)
    sheet.rows()[i].last = literal(stack_of(shown[i], report, kMarkdownName, glyphs));
  return "\n" + listed_once_heading(report) + ":\n\n" + sheet.markdown();
}

}  // namespace snapdiff::report
