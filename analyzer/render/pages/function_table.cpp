#include <algorithm>
#include <array>

#include "analyzer/render/pages/postmortem_pages.hpp"

namespace snapdiff::render {
namespace {

constexpr double kTop0 = kTop + 66;
constexpr double kFunctionTableHead = 21;
constexpr double kFunctionTableRow = 13.2;
constexpr double kTail = 15;
constexpr double kFunctionTableUnit = 20;

struct Columns {
  double flat = kLeft + 268, through = kLeft + 342, before = kLeft + 398, after = kLeft + 452;
};
constexpr Columns kColumns{};

class FunctionTable {
 public:
  FunctionTable(const GrowthReport& report, Canvas& canvas)
      : report_(report), canvas_(canvas), q_(quantity_of(report.unit)) {}

  void draw(const std::vector<std::size_t>& rows, std::size_t changed) {
    head(rows.size(), changed);
    double y = kTop0 + kFunctionTableHead;
    for (const std::size_t number : rows) {
      row(y, number);
      y += kFunctionTableRow;
    }
    sums(y + 2, rows);
  }

 private:
  void head(std::size_t shown, std::size_t changed) {
    std::string remark = shown < changed
                             ? std::to_string(shown).append(" of ").append(counted(changed, "changed function"))
                             : std::string("all functions that changed");
    remark.append("; largest change first");
    draw_section(canvas_, kTop0, "Growth per function, first \u2192 last", remark);
    const TextStyle style{7};
    const double y = kTop0 + 15;
    canvas_.text(kLeft, y, "allocated in", style, kInk2);
    canvas_.text(kColumns.flat, y, "allocated here", style, kInk2, Align::right);
    canvas_.text(kColumns.through, y, "through it", style, kInk2, Align::right);
    canvas_.text(kColumns.before, y, "first", style, kInk2, Align::right);
    canvas_.text(kColumns.after, y, "last", style, kInk2, Align::right);
    if (report_.has_objects) canvas_.text(kRight, y, "objects", style, kInk2, Align::right);
    canvas_.rule(kLeft, kRight, y + 4, kLine, 0.5);
  }

  void values(double y, const Change& value, const Change& objects, const TextStyle& style, bool mark) {
    const double unit = q_.bytes ? kFunctionTableUnit : 0;
    const std::int64_t growth = value.growth();
    const Color color = mark ? growth_color(growth) : kInk;
    if (mark && growth != 0) canvas_.triangle(kColumns.flat - 58, y - 0.4, growth > 0, 4.8, color);
    canvas_.number(kColumns.flat, y, q_.growth(growth), style, color, unit);
    canvas_.number(kColumns.before, y, q_.value(value.baseline), {7.4}, kInk, unit);
    canvas_.number(kColumns.after, y, q_.value(value.current), {7.4}, kInk, unit);
    if (report_.has_objects) canvas_.text(kRight, y, count_growth_text(objects.growth()), {7.4}, kInk, Align::right);
  }

  void row(double y, std::size_t number) {
    const GrowthRow& row = report_.rows[number];
    const double line = y + 9.6;
    const std::string name =
        row.key < report_.keys.size() ? frame_name(FrameView{report_.keys[row.key], {}, {}, {}}) : std::string();
    canvas_.text_within(kLeft, line, name.empty() ? std::string("[no name]") : name, {7.8, FontWeight::medium}, kInk,
                        200);
    values(line, row.value, row.objects, {7.8, FontWeight::semibold}, true);
    if (number < report_.cumulative.size())
      canvas_.number(kColumns.through, line, q_.growth(report_.cumulative[number].value.growth()), {7.4}, kInk2,
                     q_.bytes ? kFunctionTableUnit : 0);
    canvas_.rule(kLeft, kRight, y + kFunctionTableRow, kLine, 0.3);
  }

  void sums(double y, const std::vector<std::size_t>& rows) {
    for (const SumLine& line : sum_lines(report_, rows)) {
      if (line.total) canvas_.rule(kLeft, kRight, y, kInk3, 0.7);
      const FontWeight weight = line.total ? FontWeight::semibold : FontWeight::regular;
      canvas_.text(kLeft, y + 10.5, line.name, {7.8, weight}, line.total ? kInk : kInk2);
      values(y + 10.5, line.value, line.objects, {7.8, weight}, false);
      y += kTail;
    }
  }

  const GrowthReport& report_;
  Canvas& canvas_;
  Quantity q_;
};

}  // namespace

void plan_functions(PostmortemPages& pages) {
  const GrowthReport& report = pages.report.by_function;
  if (report.rows.empty() || report.options.by == GroupBy::stack) return;
  pages.plan.add(
      {"functions", "Growth by function", "Which functions allocated what grew?", "", [&report](PdfDocument& document) {
         constexpr double kRoom = kBottom - 8 - kTop0 - kFunctionTableHead - 4 * kTail - 2;
         constexpr auto kMost = static_cast<std::size_t>(kRoom / kFunctionTableRow);
         std::vector<std::size_t> rows;
         std::size_t changed = 0;
         for (std::size_t i = 0; i < report.rows.size(); ++i) {
           if (report.rows[i].grew == 0 && report.rows[i].shrank == 0) continue;
           ++changed;
           if (rows.size() < kMost) rows.push_back(i);
         }
         FunctionTable(report, document.canvas()).draw(rows, changed);
       }});
}

}  // namespace snapdiff::render
