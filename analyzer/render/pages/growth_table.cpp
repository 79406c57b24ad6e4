#include <algorithm>
#include <cmath>

#include "analyzer/render/pages/pages.hpp"
#include "analyzer/render/pages/postmortem_pages.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

constexpr double kTwoLineRow = 26;
constexpr double kOneLineRow = 17;
constexpr double kTailRow = 15;
constexpr double kGrowthTableHead = 21;
constexpr double kGrowthTableUnit = 20;
/// From the right edge of a growth to its triangle: clears "+999 MiB".
constexpr double kMark = 58;

/// Right edges of the number columns; names take what is left of them.
struct GrowthColumns {
  double name_w, spark, growth, before, after, objects, error;
};

GrowthColumns columns_of(const GrowthTable& table) {
  const bool spark = table.two_lines && table.report->series_length > 2;
  GrowthColumns c{};
  c.spark = kLeft + 175;
  c.growth = kLeft + 285;
  c.before = kLeft + 331;
  c.after = kLeft + 377;
  c.objects = kLeft + 415;
  c.error = kLeft + 447;
  c.name_w = spark ? 169 : c.growth - kLeft - kMark - 6;
  return c;
}

bool is_unsure(const GrowthRow& row) {
  return row.error > 0 && std::fabs(static_cast<double>(row.value.growth())) < 2 * row.error;
}

std::string error_text(const GrowthReport& report, double error, const Quantity& q) {
  if (report.exact) return "0";
  if (!std::isfinite(error) || error > 9e18) return "n/a";
  return q.value(std::llround(error));
}

/// Values of a row over a series; none of two snapshots.
std::vector<std::int64_t> row_series(const GrowthReport& report, std::size_t row) {
  return has_series(report) ? report.series.values(row) : std::vector<std::int64_t>();
}

class TableDrawing {
 public:
  TableDrawing(const GrowthTable& table, Canvas& canvas)
      : table_(table), report_(*table.report), canvas_(canvas), q_(quantity_of(report_.unit)), c_(columns_of(table)) {}

  double draw(double y) {
    y = head(y);
    for (std::size_t i = 0; i < table_.rows.size(); ++i) y = row(y, i);
    return tail(y);
  }

 private:
  double head(double y) {
    canvas_.heading(y, table_.title, table_.remark);
    y += 16;
    const TextStyle style{7};
    canvas_.text(kLeft, y, "allocated in, through", style, kInk2);
    if (table_.two_lines && report_.series_length > 2)
      canvas_.text(c_.spark, y, std::string("1 \u2013 ").append(std::to_string(report_.series_length)), style, kInk2);
    canvas_.text(c_.growth, y, "growth", style, kInk2, Align::right);
    canvas_.text(c_.before, y, table_.before, style, kInk2, Align::right);
    canvas_.text(c_.after, y, table_.after, style, kInk2, Align::right);
    if (report_.has_objects) canvas_.text(c_.objects, y, "objects", style, kInk2, Align::right);
    canvas_.text(c_.error, y, "\u00b1", style, kInk2, Align::right);
    canvas_.text(kRight, y, table_.verdicts != nullptr ? "verdict" : "class", style, kInk2, Align::right);
    canvas_.rule(kLeft, kRight, y + 5, kInk3, 0.7);
    return y + 5;
  }

  double row(double y, std::size_t i) {
    const std::size_t number = table_.rows[i];
    const GrowthRow& row = report_.rows[number];
    Painter& painter = canvas_.painter();
    if (i < table_.anchors.size()) painter.anchor(table_.anchors[i], {kLeft, y});
    painter.begin_link(i < table_.links.size() ? table_.links[i] : "");
    const double height = table_.two_lines ? kTwoLineRow : kOneLineRow;
    const double line = y + (table_.two_lines ? 15.4 : 11.8);
    names(y, row);
    if (table_.two_lines) canvas_.sparkline({c_.spark, y + 6, 44, 12}, row_series(report_, number));
    const std::int64_t growth = row.value.growth();
    const bool unsure = is_unsure(row);
    const Color color = unsure ? kInk2 : growth_color(growth);
    // A growth that may be chance has its sign, but no triangle.
    numbers(line, growth, row.value, row.objects.growth(), {8.4, FontWeight::semibold}, color, !unsure);
    if (unsure) canvas_.text(c_.growth - kMark, line, "~", {8.4, FontWeight::semibold}, kInk2);
    canvas_.text(c_.error, line, error_text(report_, row.error, q_), {6.8}, kInk3, Align::right);
    if (table_.verdicts != nullptr) {
      canvas_.badge(kRight, line - 0.4, (*table_.verdicts)[number].word, 6, Align::right);
    } else {
      std::string word(to_text(row.row_class));
      if (row.tier == MatchTier::fuzzy) word += ", alike";
      canvas_.text(kRight, line, word, {7.6}, kInk2, Align::right);
    }
    painter.end_link();
    canvas_.rule(kLeft, kRight, y + height, kLine, 0.4);
    return y + height;
  }

  void names(double y, const GrowthRow& row) {
    std::string leaf;
    std::string site;
    const std::vector<std::string> path = callers(report_, row, leaf, site);
    const double x = kLeft;
    if (table_.two_lines) {
      canvas_.text_within(x, y + 11, leaf, {8.2, FontWeight::medium}, kInk, c_.name_w);
      const TextStyle style{6.8};
      const double site_w = site.empty() ? 0 : std::min(canvas_.width(site, style), c_.name_w * 0.6) + 8;
      const double w = through(x, y + 20.5, path, style, c_.name_w - site_w);
      if (!site.empty()) canvas_.text_within(x + (w > 0 ? w + 8 : 0), y + 20.5, site, style, kInk2, site_w);
      return;
    }
    const TextStyle style{8.2, FontWeight::medium};
    const double least_for_path = path.empty() ? 0 : 60;
    const double w = canvas_.text_within(x, y + 12, leaf, style, kInk, c_.name_w - least_for_path);
    through(x + w + 6, y + 12, path, {7}, c_.name_w - w - 6);
  }

  /// As many callers as fit, nearest first.
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

  void numbers(double y, std::int64_t growth, const Change& value, std::int64_t objects, const TextStyle& style,
               Color color, bool mark) {
    const double unit = q_.bytes ? kGrowthTableUnit : 0;
    if (mark && growth != 0) canvas_.triangle(c_.growth - kMark, y - 0.4, growth > 0, 5, growth_color(growth));
    canvas_.number(c_.growth, y, q_.growth(growth), style, color, unit);
    canvas_.number(c_.before, y, q_.value(value.baseline), {7.6}, kInk, unit);
    canvas_.number(c_.after, y, q_.value(value.current), {7.6}, kInk, unit);
    if (report_.has_objects) canvas_.text(c_.objects, y, count_growth_text(objects), {7.6}, kInk, Align::right);
  }

  double tail(double y) {
    for (const SumLine& line : sum_lines(report_, table_.rows)) {
      if (line.total) canvas_.rule(kLeft, kRight, ++y, kInk3, 0.7);
      const TextStyle style{7.8, line.total ? FontWeight::semibold : FontWeight::regular};
      canvas_.text(kLeft, y + 11, line.name, style, line.total ? kInk : kInk2);
      numbers(y + 11, line.value.growth(), line.value, line.objects.growth(), {8.2, style.weight}, kInk, false);
      y += kTailRow;
    }
    if (!report_.exact)
      canvas_.text(c_.error, y - 4, error_text(report_, report_.total_error, q_), {6.8}, kInk3, Align::right);
    return y;
  }

  const GrowthTable& table_;
  const GrowthReport& report_;
  Canvas& canvas_;
  Quantity q_;
  GrowthColumns c_;
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
  return kGrowthTableHead + static_cast<double>(rows) * (table.two_lines ? kTwoLineRow : kOneLineRow) +
         kTailRow * (has_filtered(*table.report) ? 4 : 3) + 1;
}

double draw_table(const GrowthTable& table, Canvas& canvas, double y) { return TableDrawing(table, canvas).draw(y); }

}  // namespace snapdiff::render
