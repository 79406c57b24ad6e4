#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/document/column.hpp"
#include "analyzer/report/csv_record.hpp"
#include "analyzer/report/json_writer.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/text_tools.hpp"

/// How each form writes a cell, and tables whose columns are declared.
namespace snapdiff::report {

/// Nothing for a cell that is absent.
void json_cell(JsonWriter& json, std::string_view key, const document::Cell& cell);

/// The fields of one column; `series` is the number of snapshots.
void csv_cell(Record& record, document::CsvShape shape, std::size_t series, const document::Cell& cell);
/// The names of those fields, each behind a comma.
std::string csv_header(std::string_view key, document::CsvShape shape, std::size_t series);

/// On a terminal, or in Markdown, which takes nothing in a name for markup.
struct TextForm {
  std::string_view unit;
  const Glyphs& glyphs;
  bool markdown = false;
};
Sheet::Cell text_cell(const document::Cell& cell, const TextForm& form);
/// "±" and "→" by their stand-ins in ASCII; other titles as they are.
std::string sign_text(std::string_view title, const Glyphs& glyphs);

/// The columns that a table has.
template <class Line>
std::vector<document::Field<Line>> fields_of(std::span<const document::Field<Line>> fields,
                                             const typename Line::View& view) {
  std::vector<document::Field<Line>> out;
  for (const document::Field<Line>& field : fields) {
    if (field.column->is_in(view)) out.push_back(field);
  }
  return out;
}

template <class Line>
void json_cells(JsonWriter& json, const std::vector<document::Field<Line>>& fields, const Line& line) {
  for (const document::Field<Line>& field : fields) json_cell(json, field.column->key, field.column->cell(line));
}

/// The header record, then one for each line that `each_line` passes on.
template <class Line, class EachLine>
std::string csv_table(const std::vector<document::Field<Line>>& fields, std::size_t series, const Style& style,
                      const EachLine& each_line) {
  std::string text;
  for (const document::Field<Line>& field : fields) {
    if (field.forms == document::Forms::all) text += csv_header(field.column->key, field.column->traits.csv, series);
  }
  text.erase(0, 1).append("\r\n");
  each_line([&](const Line& line) {
    pass_on(text, style.sink);
    Record record(text);
    for (const document::Field<Line>& field : fields) {
      if (field.forms == document::Forms::all)
        csv_cell(record, field.column->traits.csv, series, field.column->cell(line));
    }
  });
  return text;
}

/// A table for people, without the last column. `series` stands above values at each snapshot.
template <class Line>
void add_columns(Sheet& sheet, std::span<const document::Place<Line>> places, const std::vector<Line>& lines,
                 const std::string& series, const TextForm& form) {
  bool first = true;
  for (const document::Place<Line>& place : places) {
    if (place.when != nullptr && !place.when(lines.front().view)) continue;
    std::vector<Sheet::Cell> cells;
    bool filled = false;
    for (const Line& line : lines) {
      cells.push_back(text_cell(place.column->cell(line), form));
      filled = filled || (line.is_row() && !cells.back().text.empty());
      if (place.quiet) cells.back().paint = Paint::dim;
    }
    if (place.if_filled && !filled) continue;
    const std::string_view title = place.title.empty() ? place.column->title : place.title;
    const bool blanks = place.gap.find_first_not_of(' ') == std::string_view::npos;
    sheet.column({place.column->traits.csv == document::CsvShape::series ? series : sign_text(title, form.glyphs),
                  place.width, place.right,
                  first    ? ""
                  : blanks ? std::string(place.gap)
                           : spaced(sign_text(place.gap, form.glyphs))},
                 cells, [](const Sheet::Cell& cell) { return cell; });
    first = false;
  }
}

}  // namespace snapdiff::report
