#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analyzer/document/cell.hpp"

/// Columns of tables, declared once for all forms. A form names the columns that it has and their order.
namespace snapdiff::document {

/// How many columns of CSV a column is.
///   one     its own
///   sides   KEY_baseline, KEY_current, KEY_growth
///   stack   stack, file, line, module, places
///   series  value_1 to value_N, one for each snapshot
enum class CsvShape : std::uint8_t { one, sides, stack, series };

/// Rows of a table are stacks, or groups of stacks.
enum class RowsOf : std::uint8_t { both, stacks, groups };

/// One column of lines of a type, whose `view` is what they have in common.
///   key      the field of JSON, the column of CSV
///   title    above the column, for people; "±" has a stand-in in ASCII, that of a series is "1 – N"
///   type     of the JSON field, in the notation of analyzer/report/schema; "" where JSON has none
///   meaning  one line for the schema
///   cell     the value of a line
template <class Line>
struct Column {
  struct Traits {
    RowsOf rows = RowsOf::both;
    CsvShape csv = CsvShape::one;
    bool (*when)(const typename Line::View&) = nullptr;  ///< whether a table has it; null where all have
    bool of_total = false;                               ///< the total has it, too
  };
  std::string_view key, title, type, meaning;
  Cell (*cell)(const Line&);
  Traits traits = {};

  bool is_in(const typename Line::View& view) const {
    if (traits.rows != RowsOf::both && (traits.rows == RowsOf::groups) != view.grouped()) return false;
    return traits.when == nullptr || traits.when(view);
  }
};

/// A column in the machine forms, in their order. `optional`: some rows, or some such tables, have no such field.
enum class Forms : std::uint8_t { all, json };
template <class Line>
struct Field {
  const Column<Line>* column;
  Forms forms = Forms::all;
  bool optional = false;
};

/// A column in a table for people, in its order from left to right.
///   width    least width, in columns of a terminal; in PDF in points
///   gap      before it: blanks, or a sign that stands between blanks; the first column shown has none
///   if_room  the HTML page leaves it out of narrow windows
///   when     whether it is shown; null: always
///   title    other than the column's own
template <class Line>
struct Place {
  const Column<Line>* column;
  std::size_t width = 0;
  std::string_view gap = " ";
  bool right = true;
  bool quiet = false;      ///< in a paler colour
  bool if_filled = false;  ///< left out where no row has a value
  bool if_room = false;
  bool (*when)(const typename Line::View&) = nullptr;
  std::string_view title = {};
};

}  // namespace snapdiff::document
