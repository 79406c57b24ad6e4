#include "analyzer/document/top_columns.hpp"

#include <array>

#include "analyzer/document/match_words.hpp"

namespace snapdiff::document {
namespace {

using TopColumn = Column<TopLine>;

bool in_groups(const TopView& view) { return view.grouped(); }
bool in_stacks(const TopView& view) { return !view.grouped(); }
bool flat_first(const TopView& view) { return view.grouped() && !view.cumulative_leads; }
bool cumulative_first(const TopView& view) { return view.grouped() && view.cumulative_leads; }
bool counts_objects(const TopView& view) { return view.report.has_objects; }

Cell flat_value(const TopLine& line) { return Amount{line.flat}; }

constexpr TopColumn made(std::string_view key, std::string_view title, std::string_view type, std::string_view meaning,
                         const TopColumn::Traits& traits, Cell (*cell)(const TopLine&)) {
  return {key, title, type, meaning, cell, traits};
}

constexpr TopColumn kTopValue = made("value", "value", "integer", "", {.rows = RowsOf::stacks}, flat_value);
constexpr TopColumn kTopFlat = made("flat", "flat", "integer", "", {.rows = RowsOf::groups}, flat_value);
constexpr TopColumn kTopCumulative =
    made("cum", "cum", "integer", "", {.rows = RowsOf::groups}, [](const TopLine& line) -> Cell {
      return line.cumulative ? Cell(Amount{*line.cumulative}) : Cell(Missing::blank);
    });
constexpr TopColumn kFlatShare = made("", "%", "", "", {}, [](const TopLine& line) -> Cell {
  return Share{line.flat, line.view.report.total};
});
constexpr TopColumn kCumulativeShare = made("", "%", "", "", {}, [](const TopLine& line) -> Cell {
  return line.cumulative ? Cell(Share{*line.cumulative, line.view.report.total}) : Cell(Missing::blank);
});
constexpr TopColumn kTopObjects = made("objects", "objects", "integer|null", "", {}, [](const TopLine& line) -> Cell {
  if (!line.view.report.has_objects) return Missing::unknown;
  return line.objects ? Cell(Count{*line.objects}) : Cell(Missing::blank);
});
constexpr TopColumn kTopError = made("error", "±", "number|null", "", {}, [](const TopLine& line) -> Cell {
  return line.is_row() ? Cell(Deviation{line.row().error}) : Cell(Missing::blank);
});
Cell top_frames(const TopLine& line) {
  if (!line.is_row()) return Text{line.name};
  const TopReport& report = line.view.report;
  report.view->frames(report.stacks[line.row().key], line.view.frames);
  return Stack{line.view.frames};
}
constexpr TopColumn kTopStack =
    made("stack", "stack (leaf first)", "[frame]", "", {.rows = RowsOf::stacks, .csv = CsvShape::stack}, top_frames);
constexpr TopColumn kTopKey = made("key", "", "text", "", {.rows = RowsOf::groups}, [](const TopLine& line) -> Cell {
  return Text{line.is_row() ? line.view.report.keys[line.row().key] : line.name};
});
constexpr TopColumn kTopSite = made("", "allocated at", "", "", {}, [](const TopLine& line) -> Cell {
  if (!line.is_row()) return Missing::blank;
  top_frames(line);
  return Site{line.view.frames};
});

constexpr std::array kTopFields = std::to_array<Field<TopLine>>(
    {{&kTopValue}, {&kTopFlat}, {&kTopCumulative}, {&kTopObjects}, {&kTopError}, {&kTopStack}, {&kTopKey}});

bool in_unit(const TopView& view, std::string_view unit) { return in_stacks(view) && view.report.unit == unit; }

constexpr std::array kTopScreen = std::to_array<Place<TopLine>>(
    {{.column = &kTopValue,
      .width = 10,
      .when = [](const TopView& view) { return in_unit(view, "bytes"); },
      .title = "bytes"},
     {.column = &kTopValue,
      .width = 10,
      .when = [](const TopView& view) { return in_unit(view, "count"); },
      .title = "count"},
     {.column = &kTopValue,
      .width = 10,
      .when =
          [](const TopView& view) { return in_stacks(view) && !in_unit(view, "bytes") && !in_unit(view, "count"); }},
     {.column = &kFlatShare, .width = 5, .when = in_stacks},
     {.column = &kTopCumulative, .width = 10, .when = cumulative_first},
     {.column = &kCumulativeShare, .width = 5, .when = cumulative_first},
     {.column = &kTopFlat, .width = 10, .when = in_groups},
     {.column = &kFlatShare, .width = 5, .when = in_groups},
     {.column = &kTopCumulative, .width = 10, .when = flat_first},
     {.column = &kCumulativeShare, .width = 5, .when = flat_first},
     {.column = &kTopObjects, .width = 8, .gap = "  ", .when = counts_objects},
     {.column = &kTopSite, .width = 18, .gap = "  ", .right = false, .quiet = true, .when = [](const TopView& view) {
        return in_stacks(view) && view.wide && !lists_types(view.report);
      }}});

constexpr std::array kTopMarkdown = std::to_array<Place<TopLine>>({{.column = &kTopValue, .when = in_stacks},
                                                                   {.column = &kTopFlat, .when = in_groups},
                                                                   {.column = &kFlatShare},
                                                                   {.column = &kTopCumulative, .when = in_groups},
                                                                   {.column = &kTopObjects, .when = counts_objects}});

}  // namespace

TopLine row_line(const TopView& view, std::uint32_t row) {
  const TopRow& of = view.report.rows[row];
  return {.view = view, .number = row, .flat = of.value, .cumulative = of.cumulative, .objects = of.objects};
}

TopLine rest_line(const TopView& view, std::string_view name, std::int64_t value, std::optional<std::int64_t> objects) {
  return {.view = view, .name = name, .flat = value, .objects = objects};
}

std::vector<TopLine> unlisted_lines(const TopView& view) {
  std::vector<TopLine> lines;
  if (view.report.unattributed != 0) lines.push_back(rest_line(view, kUnattributed, view.report.unattributed, {}));
  if (view.report.filtered != 0) lines.push_back(rest_line(view, "[filtered out]", view.report.filtered, {}));
  return lines;
}

std::span<const Field<TopLine>> top_fields() { return kTopFields; }
std::span<const Place<TopLine>> top_screen() { return kTopScreen; }
std::span<const Place<TopLine>> top_markdown() { return kTopMarkdown; }

}  // namespace snapdiff::document
