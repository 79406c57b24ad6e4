#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/report/text_tools.hpp"

namespace snapdiff::report {

/// How growth is painted; none where nothing changed.
constexpr Paint growth_paint(std::int64_t growth) {
  return growth > 0 ? Paint::growth : growth < 0 ? Paint::shrinkage : Paint::none;
}

/// The rows of a result as people read them, made once and laid out as a table of a terminal or of Markdown: columns of
/// fixed alignment, and a last column for what a row is called. On a terminal columns are at least `min_width` wide,
/// and the last one takes what is left. Numbers are right-aligned to one edge.
class Sheet {
 public:
  struct Column {
    std::string header;
    std::size_t min_width = 0;
    bool right = true;
    std::string separator = " ";  ///< of a terminal, before the cell; blanks where the cell is empty
  };
  struct Cell {
    std::string text;
    Paint paint = Paint::none;
  };
  struct Row {
    std::vector<Cell> cells;  ///< one per column
    std::string last;         ///< fills the rest
    Paint last_paint = Paint::none;
    bool dim = false;  ///< the whole row
  };

  /// `thousands` is between groups of three digits in cells that are whole numbers.
  Sheet(std::vector<Column> columns, std::string last_header, std::string_view thousands)
      : columns_(std::move(columns)), last_header_(std::move(last_header)), thousands_(thousands) {}

  /// Without columns yet: column() adds them.
  explicit Sheet(std::string last_header, std::string_view thousands = {})
      : last_header_(std::move(last_header)), thousands_(thousands) {}

  /// One more column, with its cell for each of `lines`; all columns have the same lines.
  template <class Lines, class CellOf>
  void column(Column column, const Lines& lines, const CellOf& cell_of) {
    columns_.push_back(std::move(column));
    rows_.resize(std::max(rows_.size(), lines.size()));
    for (std::size_t i = 0; i < lines.size(); ++i) rows_[i].cells.push_back(cell_of(lines[i]));
  }
  /// Names of the first rows.
  void call(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) rows_[i].last = names[i];
  }

  /// Adds a row whose `last` is still to come; returns it for filling once rest_width() is known.
  Row& add() { return rows_.emplace_back(); }
  std::vector<Row>& rows() { return rows_; }

  /// Columns left for the last cell in a terminal `width` wide. Call after all cells are there.
  std::size_t rest_width(std::size_t width) const;

  /// Header line, then one line per row, without trailing blanks.
  std::string text(bool colour) const;
  /// The same for Markdown, which takes the cells as they are; no last column where that has no header.
  std::string markdown() const;

 private:
  std::size_t column_width(std::size_t column) const;
  std::string shown(const Cell& cell) const;

  std::vector<Column> columns_;
  std::string last_header_;
  std::string thousands_;
  std::vector<Row> rows_;
};

}  // namespace snapdiff::report
