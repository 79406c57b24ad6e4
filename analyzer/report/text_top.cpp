#include <cmath>

#include "analyzer/report/headline.hpp"
#include "analyzer/report/names.hpp"
#include "analyzer/report/table.hpp"
#include "analyzer/report/writers.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {

namespace {

class TopTable {
 public:
  TopTable(const TopReport& report, const Style& style)
      : report_(report),
        style_(style),
        glyphs_(glyphs_for(style.utf8)),
        grouped_(report.options.by != GroupBy::stack),
        with_site_(!grouped_ && style.width >= kWide),
        selection_(select_rows(report, style)) {}

  std::string text() {
    TextTable table(columns(), grouped_ ? group_name() : "stack (leaf first)", style_.thousands);
    for (const std::uint32_t row : selection_.rows) fill(report_.rows[row], table.add());
    const Others& others = selection_.others;
    fixed(table, others_name(others), others.value.current, others.objects.current, true);
    if (report_.unattributed != 0) fixed(table, std::string(kUnattributed), report_.unattributed, 0, false);
    if (report_.filtered != 0) fixed(table, "[filtered out]", report_.filtered, 0, false);
    fixed(table, "TOTAL", report_.total, report_.total_objects, true);
    const std::size_t rest = table.rest_width(style_.width);
    const std::vector<std::string> texts = names(rest);
    for (std::size_t i = 0; i < texts.size(); ++i) table.rows()[i].last = texts[i];
    return table.text(style_.colour);
  }

 private:
  std::string group_name() const {
    return report_.options.by == GroupBy::label ? printable(report_.options.label_key, style_.utf8)
                                                : std::string(to_text(report_.options.by));
  }

  std::vector<TextTable::Column> columns() const {
    const std::string value = report_.unit == "bytes" ? "bytes" : report_.unit == "count" ? "count" : "value";
    std::vector<TextTable::Column> columns;
    if (grouped_) {
      columns = {{style_.cumulative ? "cum" : "flat", 10, true, ""},
                 {"%", 5, true, " "},
                 {style_.cumulative ? "flat" : "cum", 10, true, " "},
                 {"%", 5, true, " "}};
    } else {
      columns = {{value, 10, true, ""}, {"%", 5, true, " "}};
    }
    if (report_.has_objects) columns.push_back({"objects", 8, true, "  "});
    if (with_site_) columns.push_back({"allocated at", 18, false, "  "});
    return columns;
  }

  void values(TextTable::Row& row, std::int64_t lead, std::int64_t second, bool has_lead, bool has_second) const {
    const auto cell = [&](std::int64_t value, bool has) {
      row.cells.push_back({has ? snapdiff::value_text(value, report_.unit) : "", Paint::none});
      row.cells.push_back({has ? snapdiff::percent_text(value, report_.total) : "", Paint::none});
    };
    cell(lead, has_lead);
    if (grouped_) cell(second, has_second);
  }

  void fill(const TopRow& r, TextTable::Row& row) const {
    values(row, style_.cumulative && grouped_ ? r.cumulative : r.value, style_.cumulative ? r.value : r.cumulative,
           true, true);
    if (report_.has_objects) row.cells.push_back({snapdiff::count_text(r.objects), Paint::none});
    if (with_site_) {
      std::vector<FrameView> frames;
      report_.view->frames(report_.stacks[r.key], frames);
      row.cells.push_back({cut_name(stack_cell(frames, 1000, glyphs_).site, kSiteWidth, glyphs_.ellipsis), Paint::dim});
    }
  }

  void fixed(TextTable& table, std::string name, std::int64_t value, std::int64_t objects, bool has_objects) const {
    TextTable::Row& row = table.add();
    // Cumulative values don't add up over rows; the flat column does.
    const bool total = name == "TOTAL";
    const bool flat_leads = !(grouped_ && style_.cumulative);
    values(row, value, value, flat_leads || total, !flat_leads || total);
    if (report_.has_objects) row.cells.push_back({has_objects ? snapdiff::count_text(objects) : "", Paint::none});
    row.last = std::move(name);
  }

  std::vector<std::string> names(std::size_t width) const {
    const auto row = [&](std::size_t i) -> const TopRow& { return report_.rows[selection_.rows[i]]; };
    if (!grouped_) {
      return stack_cells(
          selection_.rows.size(),
          [&](std::size_t i, std::vector<FrameView>& frames) {
            report_.view->frames(report_.stacks[row(i).key], frames);
          },
          width, glyphs_);
    }
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < selection_.rows.size(); ++i)
      texts.push_back(key_text(report_.keys[row(i).key], report_.options.by, width, glyphs_));
    return texts;
  }

  const TopReport& report_;
  const Style& style_;
  Glyphs glyphs_;
  bool grouped_;
  bool with_site_;
  Selection selection_;
};

}  // namespace

std::string text_top(const TopReport& report, const Style& style) {
  std::string out =
      snapshot_name(report.snapshot, style.utf8) + "   " + snapdiff::value_text(report.total, report.unit);
  if (report.has_objects) out += " in " + counted(report.total_objects, "object");
  out += "   " + printable(report.metric, style.utf8) + "\n";
  if (report.unnamed.unnamed > 0)
    out += wrapped("names     " + unnamed_text(report.unnamed, report.unit, style.utf8), style.width, 10) + "\n";
  out += "\n";
  out += TopTable(report, style).text();
  return out + text_end(note_lines(report.notes, style.utf8), style);
}

}  // namespace snapdiff::report
