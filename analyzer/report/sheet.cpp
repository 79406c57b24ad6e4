#include "analyzer/report/sheet.hpp"

#include <algorithm>

namespace snapdiff::report {

namespace {

constexpr std::string_view kLastSeparator = "  ";

void trim(std::string& line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
}

}  // namespace

std::string Sheet::shown(const Cell& cell) const {
  const std::string_view text = cell.text;
  const std::size_t sign = text.empty() || (text[0] != '+' && text[0] != '-') ? 0 : 1;
  const std::string_view digits = text.substr(sign);
  if (thousands_.empty() || digits.size() < 4 || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return cell.text;
  std::string out(text.substr(0, sign));
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += thousands_;
    out += digits[i];
  }
  return out;
}

std::size_t Sheet::column_width(std::size_t column) const {
  std::size_t width = std::max(columns_[column].min_width, display_width(columns_[column].header));
  for (const Row& row : rows_) {
    if (column < row.cells.size()) width = std::max(width, display_width(shown(row.cells[column])));
  }
  return width;
}

std::size_t Sheet::rest_width(std::size_t width) const {
  std::size_t used = kLastSeparator.size();
  for (std::size_t c = 0; c < columns_.size(); ++c) used += display_width(columns_[c].separator) + column_width(c);
  return width > used ? width - used : 0;
}

std::string Sheet::text(bool colour) const {
  std::vector<std::size_t> widths(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) widths[c] = column_width(c);

  std::string out;
  std::string line;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    line.append(display_width(column.separator), ' ');
    line += column.right ? pad_left(column.header, widths[c]) : pad_right(column.header, widths[c]);
  }
  line += kLastSeparator;
  line += last_header_;
  trim(line);
  out += line + "\n";

  for (const Row& row : rows_) {
    line.clear();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      const Cell cell = c < row.cells.size() ? row.cells[c] : Cell{};
      const Paint paint = row.dim ? Paint::none : cell.paint;
      const std::string text = shown(cell);
      if (text.empty()) {
        line.append(display_width(column.separator) + widths[c], ' ');
        continue;
      }
      const std::string blanks(widths[c] - display_width(text), ' ');
      line += column.separator;
      line += column.right ? blanks + painted(text, paint, colour) : painted(text, paint, colour) + blanks;
    }
    line += kLastSeparator;
    line += painted(row.last, row.dim ? Paint::none : row.last_paint, colour);
    trim(line);
    out += (row.dim ? painted(line, Paint::dim, colour) : line) + "\n";
  }
  return out;
}

std::string Sheet::markdown() const {
  std::string out;
  const std::size_t count = columns_.size() + (last_header_.empty() ? 0 : 1);
  const auto line = [&](const auto& cell_of) {
    for (std::size_t c = 0; c < count; ++c) {
      const std::string& cell = cell_of(c);
      out += "| ";
      out += cell;
      if (!cell.empty()) out += ' ';
    }
    out += "|\n";
  };
  const std::string none;
  line([&](std::size_t c) -> const std::string& { return c < columns_.size() ? columns_[c].header : last_header_; });
  for (std::size_t c = 0; c < count; ++c) out += c < columns_.size() && columns_[c].right ? "| ---: " : "| :--- ";
  out += "|\n";
  for (const Row& row : rows_) {
    line([&](std::size_t c) -> const std::string& {
      return c == columns_.size() ? row.last : c < row.cells.size() ? row.cells[c].text : none;
    });
  }
  return out;
}

}  // namespace snapdiff::report
