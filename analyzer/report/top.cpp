#include <optional>

#include "analyzer/base/number_text.hpp"
#include "analyzer/document/match_words.hpp"
#include "analyzer/document/top_columns.hpp"
#include "analyzer/report/cells.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {

namespace {

using document::TopLine;
using document::TopView;

/// The table for people: its columns are declared in document/top_columns.cpp; here its lines get their names.
class TopSheet {
 public:
  TopSheet(const TopReport& report, const Style& style)
      : report_(report),
        style_(style),
        glyphs_(glyphs_for(style.utf8)),
        selection_(select_rows(report, style)),
        others_(others_name(selection_.others)),
        view_{.report = report, .for_people = true} {
    for (const std::uint32_t row : selection_.rows) lines_.push_back(row_line(view_, row));
    const Others& others = selection_.others;
    if (others.rows > 0) lines_.push_back(rest_line(view_, others_, others.value.current, others.objects.current));
    for (const TopLine& line : unlisted_lines(view_)) lines_.push_back(line);
    lines_.push_back(rest_line(view_, "TOTAL", report.total, report.total_objects));
    lines_.back().cumulative = report.total;
  }

  std::string text() {
    view_.wide = style_.width >= kWide;
    view_.cumulative_leads = style_.cumulative;
    Sheet sheet(view_.grouped() ? group_name() : std::string(document::row_title(report_)), style_.thousands);
    add_columns(sheet, document::top_screen(), lines_, "", {report_.unit, glyphs_});
    for (std::size_t i = selection_.rows.size(); i < lines_.size(); ++i) sheet.rows()[i].last = lines_[i].name;
    sheet.call(names(sheet.rest_width(style_.width)));
    return sheet.text(style_.colour);
  }

  std::string markdown() {
    Sheet sheet(std::string(view_.grouped() ? to_text(report_.options.by) : document::row_title(report_)));
    add_columns(sheet, document::top_markdown(), lines_, "", {report_.unit, glyphs_, true});
    for (std::size_t i = 0; i < lines_.size(); ++i) sheet.rows()[i].last = markdown_name(lines_[i]);
    return sheet.markdown();
  }

 private:
  std::string group_name() const {
    return report_.options.by == GroupBy::label ? printable(report_.options.label_key, style_.utf8)
                                                : std::string(to_text(report_.options.by));
  }

  void frames(const TopLine& line, std::vector<FrameView>& out) const {
    report_.view->frames(report_.stacks[line.row().key], out);
  }

  /// Of the rows, which are above the others.
  std::vector<std::string> names(std::size_t width) const {
    const std::size_t count = selection_.rows.size();
    if (!view_.grouped()) {
      return stack_cells(
          count, [&](std::size_t i, std::vector<FrameView>& out) { frames(lines_[i], out); }, width, glyphs_);
    }
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i)
      texts.push_back(key_text(report_.keys[lines_[i].row().key], report_.options.by, width, glyphs_));
    return texts;
  }

  std::string markdown_name(const TopLine& line) const {
    if (!line.is_row()) return line.name == "TOTAL" ? "**TOTAL**" : literal(line.name);
    if (view_.grouped())
      return literal(key_text(report_.keys[line.row().key], report_.options.by, kMarkdownName, glyphs_));
    std::vector<FrameView> of;
    frames(line, of);
    return literal(stack_cell(of, kMarkdownName, glyphs_).text);
  }

  const TopReport& report_;
  const Style& style_;
  Glyphs glyphs_;
  Selection selection_;
  std::string others_;
  TopView view_;
  std::vector<TopLine> lines_;
};

/// "6.1 MiB in 20 objects".
std::string total_text(const TopReport& report) {
  std::string text = value_text(report.total, report.unit);
  return report.has_objects ? text + " in " + counted(report.total_objects, "object") : text;
}

std::string text_top(const TopReport& report, const Style& style) {
  std::string out = snapshot_name(report.snapshot, style.utf8) + "   " + total_text(report) + "   " +
                    printable(report.metric, style.utf8) + "\n";
  if (report.unnamed.unnamed > 0)
    out += wrapped("names     " + unnamed_text(report.unnamed, report.unit, style.utf8), style.width, 10) + "\n";
  out += "\n";
  out += TopSheet(report, style).text();
  return out + text_end(note_lines(report.notes, style.utf8), style);
}

std::string markdown_top(const TopReport& report, const Style& style) {
  return "### " + literal(snapshot_name(report.snapshot, true)) + ": " + total_text(report) + ", " +
         literal(printable(report.metric)) + "\n\n" + TopSheet(report, unwrapped(style)).markdown() +
         markdown_notes(note_lines(report.notes, true));
}

void top_head(JsonWriter& json, const TopReport& report) {
  json.field("schema", "snapdiff.top/1");
  json_snapshot(json, "snapshot", report.snapshot);
  json_view_fields(json, report);
  json.field("total", report.total);
  json.field_or_null("total_objects", report.has_objects ? std::optional(report.total_objects) : std::nullopt);
  json_unnamed(json, report.unnamed);
}

void top_tail(JsonWriter& json, const TopReport& report, const Others& others, const AboveTop& above) {
  json.object("others", [&] {
    json.field("rows", static_cast<std::int64_t>(others.rows));
    json.field("value", others.value.current);
  });
  json.field("unattributed", report.unattributed);
  json.field("filtered", report.filtered);
  if (above.failure != nullptr) {
    json.object("out_of_memory", [&] { json_out_of_memory_fields(json, *above.failure); });
  }
  if (above.peak != nullptr) {
    json.key("peak");
    json_peak(json, *above.peak);
  }
  json_notes(json, report.notes);
}

std::string json_top(const TopReport& report, const Style& style, const AboveTop& above) {
  const Selection selection = select_rows(report, style);
  const TopView view{.report = report};
  const auto fields = fields_of(document::top_fields(), view);
  std::string out;
  json_document(
      out, style, "rows", selection.rows, [&](JsonWriter& json) { top_head(json, report); },
      [&](JsonWriter& json, std::uint32_t row) { json.object([&] { json_cells(json, fields, row_line(view, row)); }); },
      [&](JsonWriter& json) { top_tail(json, report, selection.others, above); });
  return out;
}

}  // namespace

std::string write_top(const TopReport& report, const Style& style, const AboveTop& above) {
  const auto text = [&] {
    std::string out;
    if (above.failure != nullptr) out += text_out_of_memory(*above.failure, style).append("\n");
    if (above.peak != nullptr) out += headline_text(peak_lines(*above.peak, style), style).append("\n");
    return out + text_top(report, style);
  };
  const auto markdown = [&] {
    std::string out;
    if (above.failure != nullptr) out += markdown_out_of_memory(*above.failure);
    if (above.peak != nullptr) out += markdown_peak(*above.peak);
    return out + markdown_top(report, style);
  };
  return in_form(
      style.form, text, markdown, [&] { return csv_top(report, style); },
      [&] { return json_top(report, style, above); });
}

}  // namespace snapdiff::report
