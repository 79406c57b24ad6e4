#include <algorithm>

#include "analyzer/report/headline.hpp"
#include "analyzer/report/names.hpp"
#include "analyzer/report/table.hpp"
#include "analyzer/report/writers.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {

std::string text_peek(const PeekReport& report, const Style& style) {
  const Glyphs glyphs = glyphs_for(style.utf8);
  const auto value = [&](std::int64_t number, bool sign) { return snapdiff::value_text(number, report.unit, sign); };
  const std::string arrow = spaced(glyphs.arrow);
  std::string out = snapshot_name(report.baseline, style.utf8) + arrow + snapshot_name(report.current, style.utf8) +
                    "   " + printable(report.metric, style.utf8) + " " + value(report.total.growth(), true) +
                    " in all\n";
  out += counted(static_cast<std::int64_t>(report.functions.size()), "function") +
         (report.functions.size() == 1 ? " matches " : " match ") +
         cut_middle(printable(report.regex, style.utf8), 60, glyphs.ellipsis) + "\n";

  std::size_t shown = 0;
  for (const PeekFunction& function : report.functions) {
    if (style.max_rows != 0 && shown++ == style.max_rows) {
      out += "\n[";
      out += counted(static_cast<std::int64_t>(report.functions.size() - style.max_rows), "more function");
      out += "]\n";
      break;
    }
    TextTable table({{"growth", 10, true, ""}, {"", 5, true, " "}, {"before", 9, true, " "}, {"after", 8, true, arrow}},
                    "", style.thousands);
    std::vector<std::pair<std::string, std::string>> names;  // lead, name
    const auto add = [&](const Change& change, std::int64_t whole, const std::string& lead, const std::string& name) {
      TextTable::Row& row = table.add();
      row.cells = {{value(change.growth(), true), growth_paint(change.growth())},
                   {whole == 0 ? "" : snapdiff::percent_text(change.growth(), whole), Paint::none},
                   {value(change.baseline, false), Paint::dim},
                   {value(change.current, false), Paint::dim}};
      names.emplace_back(lead, name);
    };
    const std::int64_t through = function.cumulative.growth();
    for (const PeekEdge& edge : function.callers) add(edge.value, through, "called by ", edge.function);
    add(function.cumulative, 0, "", function.function);
    for (const PeekEdge& edge : function.callees) add(edge.value, through, "    calls ", edge.function);
    add(function.flat, through, "    itself", "");
    const std::size_t rest = table.rest_width(style.width);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::size_t room = rest > names[i].first.size() ? rest - names[i].first.size() : 0;
      const bool self = names[i].first == "    itself";
      table.rows()[i].last = names[i].first + (self ? "" : key_text(names[i].second, GroupBy::function, room, glyphs));
      if (names[i].first.empty()) table.rows()[i].last_paint = Paint::bold;
    }
    out += "\n" + table.text(style.colour);
  }
  if (!style.footer.empty()) out += "\n" + style.footer + "\n";
  return out;
}

}  // namespace snapdiff::report
