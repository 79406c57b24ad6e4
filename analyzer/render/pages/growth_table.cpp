#include <algorithm>
#include <cmath>
#include <variant>

#include "analyzer/base/concat.hpp"
#include "analyzer/document/growth_columns.hpp"
#include "analyzer/document/match_words.hpp"
#include "analyzer/document/terms.hpp"
#include "analyzer/render/pages/pages.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"

namespace snapdiff::render {
namespace {

constexpr double kGrowthTableRow = 26;
constexpr double kTailRow = 15;
constexpr double kGrowthTableHead = 21;
constexpr double kGrowthTableUnit = 20;
/// From the right edge of a growth to its triangle: clears "+999 MiB".
constexpr double kMark = 58;

using document::GrowthLine;
using document::GrowthPlace;
using document::GrowthView;

/// A column and its right edge. Columns are placed from the right; names take what is left.
struct PlacedColumn {
  GrowthPlace place;
  double right = 0;
};

std::vector<PlacedColumn> placed_columns(const GrowthView& view) {
  std::vector<PlacedColumn> out;
  for (const GrowthPlace& place : document::growth_print()) {
    if (place.when == nullptr || place.when(view)) out.push_back({place});
  }
  double right = kRight;
  for (std::size_t i = out.size(); i-- > 0;) {
    out[i].right = right;
    right -= static_cast<double>(out[i].place.width);
  }
  return out;
}

bool is_series(const GrowthPlace& place) { return place.column->traits.csv == document::CsvShape::series; }

bool is_unsure(const GrowthRow& row) {
  return row.error > 0 && std::fabs(static_cast<double>(row.value.growth())) < 2 * row.error;
}

GrowthView view_of(const GrowthTable& table) {
  GrowthView view{.report = *table.report, .for_people = true, .wide = true};
  if (table.verdicts != nullptr) view.verdicts = *table.verdicts;
  return view;
}

class TableDrawing {
 public:
  TableDrawing(const GrowthTable& table, Canvas& canvas)
      : table_(table),
        report_(*table.report),
        canvas_(canvas),
        q_(quantity_of(report_.unit)),
        view_(view_of(table)),
        columns_(placed_columns(view_)) {}

  double draw(double y) {
    y = head(y);
    for (std::size_t i = 0; i < table_.rows.size(); ++i) y = row(y, i);
    return tail(y);
  }

 private:
  double head(double y) {
    const bool of_types = document::lists_types(report_);
    canvas_.heading(y, of_types ? "Growth per type, first \u2192 last" : "Growth per stack, first \u2192 last",
                    table_.remark);
    y += 16;
    const TextStyle style{7};
    canvas_.text(kLeft, y, of_types ? "type" : "allocated in, through", style, kInk2);
    for (const PlacedColumn& column : columns_) {
      const bool series = is_series(column.place);
      const double x = series ? column.right - static_cast<double>(column.place.width) : column.right;
      canvas_.text(x, y, title(column.place), style, kInk2, series ? Align::left : Align::right);
    }
    canvas_.rule(kLeft, kRight, y + 5, kInk3, 0.7);
    return y + 5;
  }

  double row(double y, std::size_t i) {
    const std::size_t number = table_.rows[i];
    const GrowthRow& row = report_.rows[number];
    Painter& painter = canvas_.painter();
    painter.anchor(row_anchor(kTablePage, number), {kLeft, y});
    const std::uint32_t node = node_of_row(table_.row_node, number);
    painter.begin_link(node == 0 ? std::string() : node_anchor(page_prefix(kGraphPage), node));
    const double line = y + 15.4;
    names(y, row);
    const GrowthLine of = row_line(view_, static_cast<std::uint32_t>(number));
    for (const PlacedColumn& column : columns_) {
      if (is_series(column.place)) {
        const double width = static_cast<double>(column.place.width);
        canvas_.sparkline({column.right - width, y + 6, width, 12}, report_.series.values(number));
      } else {
        cell(column.right, line, of, column.place.column->cell(of), {8.4, FontWeight::semibold});
      }
    }
    painter.end_link();
    canvas_.rule(kLeft, kRight, y + kGrowthTableRow, kLine, 0.4);
    return y + kGrowthTableRow;
  }

  void names(double y, const GrowthRow& row) {
    std::string leaf;
    std::string site;
    const std::vector<std::string> path = callers(report_, row, leaf, site);
    const double x = kLeft;
    canvas_.text_within(x, y + 11, leaf, {8.2, FontWeight::medium}, kInk, name_width());
    const TextStyle style{6.8};
    const double site_w = site.empty() ? 0 : std::min(canvas_.width(site, style), name_width() * 0.6) + 8;
    const double w = through(x, y + 20.5, path, style, name_width() - site_w);
    if (!site.empty()) canvas_.text_within(x + (w > 0 ? w + 8 : 0), y + 20.5, site, style, kInk2, site_w);
  }

  /// The callers that fit, nearest first.
  double through(double x, double y, const std::vector<std::string>& path, const TextStyle& style, double room) {
    std::string text;
    for (std::size_t i = 0; i < path.size(); ++i) {
      std::string longer = concat(text, i == 0 ? "\u2039 " : " \u2039 ", path[i]);
      std::string closed = i + 1 == path.size() ? longer : std::string(longer).append(" \u2039 \u2026");
      if (canvas_.width(closed, style) > room) {
        if (i == 0) return canvas_.text_within(x, y, longer, style, kInk2, room);
        text.append(" \u2039 \u2026");
        break;
      }
      text = std::move(longer);
    }
    return text.empty() ? 0 : canvas_.text(x, y, text, style, kInk2);
  }

  std::string title(const GrowthPlace& place) const {
    if (is_series(place)) return std::string("1 \u2013 ").append(std::to_string(report_.series_length));
    if (place.column->key == "baseline") return "first";
    if (place.column->key == "current") return "last";
    return std::string(place.title.empty() ? place.column->title : place.title);
  }

  /// Space of the name: left of the sparkline, or of the triangle before the growth.
  double name_width() const {
    const PlacedColumn& first = columns_.front();
    const double taken = is_series(first.place) ? static_cast<double>(first.place.width) : kMark;
    return first.right - taken - 6 - kLeft;
  }

  /// A number at its right edge; cells other than numbers and words are not printed.
  void cell(double x, double y, const GrowthLine& line, const document::Cell& value, const TextStyle& growth_style) {
    const double unit = q_.bytes ? kGrowthTableUnit : 0;
    const auto text = [&](const std::string& shown, double size, Color color) {
      canvas_.text(x, y, shown, {size}, color, Align::right);
    };
    std::visit(document::Overloaded{
                   [&](document::Missing why) {
                     if (why == document::Missing::unknown) text("n/a", 6.8, kInk3);
                   },
                   [&](const document::Growth& v) { growth(x, y, line, v.value, growth_style); },
                   [&](const document::Amount& v) { canvas_.number(x, y, q_.value(v.value), {7.6}, kInk, unit); },
                   [&](const document::Count& v) { text(count_growth_text(v.value), 7.6, kInk); },
                   [&](const document::Share& v) { text(percent_text(v.part, v.whole, kGlyphs), 7.6, kInk); },
                   [&](const document::Deviation& v) {
                     const bool known = std::isfinite(v.value) && v.value <= 9e18;
                     text(!known ? "n/a" : v.value == 0 ? "0" : q_.value(std::llround(v.value)), 6.8, kInk3);
                   },
                   [&](const document::Word& v) {
                     if (document::gravity(v.text) > 0) {
                       canvas_.badge(x, y - 0.4, std::string(v.text), 6, Align::right);
                       return;
                     }
                     const bool alike =
                         table_.verdicts == nullptr && line.is_row() && line.row().tier == MatchTier::fuzzy;
                     text(std::string(v.text) + (alike ? ", alike" : ""), 7.6, kInk2);
                   },
                   [](const auto&) {}},
               value);
  }

  /// A growth that may be chance has its sign, but no triangle.
  void growth(double x, double y, const GrowthLine& line, std::int64_t growth, const TextStyle& style) {
    const bool unsure = line.is_row() && is_unsure(line.row());
    if (line.is_row() && !unsure && growth != 0)
      canvas_.triangle(x - kMark, y - 0.4, growth > 0, 5, growth_color(growth));
    const Color color = !line.is_row() ? kInk : unsure ? kInk2 : growth_color(growth);
    canvas_.number(x, y, q_.growth(growth), style, color, q_.bytes ? kGrowthTableUnit : 0);
    if (unsure) canvas_.text(x - kMark, y, "~", style, kInk2);
  }

  double tail(double y) {
    for (const SumLine& line : sum_lines(report_, table_.rows)) {
      if (line.total) canvas_.rule(kLeft, kRight, ++y, kInk3, 0.7);
      const TextStyle style{7.8, line.total ? FontWeight::semibold : FontWeight::regular};
      canvas_.text(kLeft, y + 11, line.name, style, line.total ? kInk : kInk2);
      GrowthLine sums = rest_line(view_, line.name, line.value, line.objects);
      if (line.total && !report_.exact) sums.error = report_.total_error;
      for (const PlacedColumn& column : columns_)
        cell(column.right, y + 11, sums, column.place.column->cell(sums), {8.2, style.weight});
      y += kTailRow;
    }
    return y;
  }

  const GrowthTable& table_;
  const GrowthReport& report_;
  Canvas& canvas_;
  Quantity q_;
  GrowthView view_;
  std::vector<PlacedColumn> columns_;
};

}  // namespace

std::vector<std::size_t> choose_rows(const GrowthReport& report, std::size_t most, std::size_t unchanged,
                                     std::ptrdiff_t passing) {
  std::vector<std::size_t> rows;
  const auto changed = [&](std::size_t row) { return report.rows[row].grew != 0 || report.rows[row].shrank != 0; };
  const bool passed = passing >= 0 && !changed(static_cast<std::size_t>(passing)) && most > 0;
  const std::size_t room = passed ? most - 1 : most;
  for (std::size_t row = 0; row < report.rows.size() && rows.size() < room; ++row) {
    if (changed(row)) rows.push_back(row);
  }
  if (passed) rows.push_back(static_cast<std::size_t>(passing));
  std::vector<std::size_t> level;
  for (std::size_t row = 0; row < report.rows.size(); ++row) {
    if (!changed(row) && static_cast<std::ptrdiff_t>(row) != passing) level.push_back(row);
  }
  // Unchanged rows by what they hold; their order in the report is that of their names.
  const std::size_t take = std::min(
      {level.size(), unchanged > rows.size() ? unchanged - rows.size() : 0, most - std::min(most, rows.size())});
  std::partial_sort(level.begin(), level.begin() + static_cast<std::ptrdiff_t>(take), level.end(),
                    [&](std::size_t a, std::size_t b) {
                      const std::int64_t x = report.rows[a].value.current;
                      const std::int64_t y = report.rows[b].value.current;
                      return x != y ? x > y : a < b;
                    });
  rows.insert(rows.end(), level.begin(), level.begin() + static_cast<std::ptrdiff_t>(take));
  return rows;
}

double table_height(const GrowthTable& table, std::size_t rows) {
  return kGrowthTableHead + static_cast<double>(rows) * kGrowthTableRow +
         kTailRow * (has_filtered(*table.report) ? 4 : 3) + 1;
}

double draw_table(const GrowthTable& table, Canvas& canvas, double y) { return TableDrawing(table, canvas).draw(y); }

}  // namespace snapdiff::render
