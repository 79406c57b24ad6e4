#include <optional>

#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/writers.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {

namespace {

/// A row, or one that completes the sum. Cumulative values don't add up over rows; the flat column does.
struct TopLine {
  std::int64_t flat = 0;
  std::optional<std::int64_t> cumulative;
  std::optional<std::int64_t> objects;
  std::string name;       ///< "[2 others]", "TOTAL"; else the row's key
  std::uint32_t key = 0;  ///< where there is no name
};

class TopSheet {
 public:
  TopSheet(const TopReport& report, const Style& style)
      : report_(report),
        style_(style),
        glyphs_(glyphs_for(style.utf8)),
        grouped_(report.options.by != GroupBy::stack),
        selection_(select_rows(report, style)) {
    for (const std::uint32_t index : selection_.rows) {
      const TopRow& row = report.rows[index];
      lines_.push_back({row.value, row.cumulative, row.objects, "", row.key});
    }
    const Others& others = selection_.others;
    lines_.push_back({others.value.current, {}, others.objects.current, others_name(others)});
    if (report.unattributed != 0) lines_.push_back({report.unattributed, {}, {}, std::string(kUnattributed)});
    if (report.filtered != 0) lines_.push_back({report.filtered, {}, {}, "[filtered out]"});
    lines_.push_back({report.total, report.total, report.total_objects, "TOTAL"});
  }

  std::string text() const {
    Sheet sheet(grouped_ ? group_name() : "stack (leaf first)", style_.thousands);
    const bool flat_leads = !grouped_ || !style_.cumulative;
    const std::string value = report_.unit == "bytes" ? "bytes" : report_.unit == "count" ? "count" : "value";
    values(sheet, !grouped_ ? value : flat_leads ? "flat" : "cum", flat_leads, true);
    if (grouped_) values(sheet, flat_leads ? "cum" : "flat", !flat_leads, true, " ");
    objects(sheet);
    if (!grouped_ && style_.width >= kWide)
      sheet.column({"allocated at", 18, false, "  "}, lines_, [&](const TopLine& line) {
        return line.name.empty() ? Sheet::Cell{site(line), Paint::dim} : Sheet::Cell{};
      });
    for (std::size_t i = selection_.rows.size(); i < lines_.size(); ++i) sheet.rows()[i].last = lines_[i].name;
    sheet.call(names(sheet.rest_width(style_.width)));
    return sheet.text(style_.colour);
  }

  std::string markdown() const {
    Sheet sheet(grouped_ ? std::string(to_text(report_.options.by)) : "stack (leaf first)");
    values(sheet, grouped_ ? "flat" : "value", true, true);
    if (grouped_) values(sheet, "cum", false, false);
    objects(sheet);
    for (std::size_t i = 0; i < lines_.size(); ++i) sheet.rows()[i].last = markdown_name(lines_[i]);
    return sheet.markdown();
  }

 private:
  std::string group_name() const {
    return report_.options.by == GroupBy::label ? printable(report_.options.label_key, style_.utf8)
                                                : std::string(to_text(report_.options.by));
  }

  /// Flat or cumulative values, and what share of the total they are.
  void values(Sheet& sheet, const std::string& header, bool flat, bool with_share,
              const std::string& separator = "") const {
    const auto known = [flat](const TopLine& line) { return flat ? std::optional(line.flat) : line.cumulative; };
    sheet.column({header, 10, true, separator}, lines_, [&](const TopLine& line) {
      return known(line) ? Sheet::Cell{value_text(*known(line), report_.unit)} : Sheet::Cell{};
    });
    if (!with_share) return;
    sheet.column({"%", 5, true, " "}, lines_, [&](const TopLine& line) {
      return known(line) ? Sheet::Cell{percent_text(*known(line), report_.total)} : Sheet::Cell{};
    });
  }

  void objects(Sheet& sheet) const {
    if (!report_.has_objects) return;
    sheet.column({"objects", 8, true, "  "}, lines_, [](const TopLine& line) {
      return line.objects ? Sheet::Cell{count_text(*line.objects)} : Sheet::Cell{};
    });
  }

  StackCell stack(const TopLine& line, std::size_t width) const {
    std::vector<FrameView> frames;
    report_.view->frames(report_.stacks[line.key], frames);
    return stack_cell(frames, width, glyphs_);
  }

  std::string site(const TopLine& line) const { return cut_name(stack(line, 1000).site, kSiteWidth, glyphs_.ellipsis); }

  /// Of the rows, which are above the others.
  std::vector<std::string> names(std::size_t width) const {
    const std::size_t count = selection_.rows.size();
    if (!grouped_) {
      return stack_cells(
          count,
          [&](std::size_t i, std::vector<FrameView>& frames) {
            report_.view->frames(report_.stacks[lines_[i].key], frames);
          },
          width, glyphs_);
    }
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i)
      texts.push_back(key_text(report_.keys[lines_[i].key], report_.options.by, width, glyphs_));
    return texts;
  }

  std::string markdown_name(const TopLine& line) const {
    if (!line.name.empty()) return line.name == "TOTAL" ? "**TOTAL**" : literal(line.name);
    return literal(grouped_ ? key_text(report_.keys[line.key], report_.options.by, kMarkdownName, glyphs_)
                            : stack(line, kMarkdownName).text);
  }

  const TopReport& report_;
  const Style& style_;
  Glyphs glyphs_;
  bool grouped_;
  Selection selection_;
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

void top_row_fields(JsonWriter& json, const TopReport& report, const TopRow& row, std::vector<FrameView>& frames) {
  if (report.options.by == GroupBy::stack) {
    json.field("value", row.value);
  } else {
    json.field("flat", row.value);
    json.field("cum", row.cumulative);
  }
  json.field_or_null("objects", report.has_objects ? std::optional(row.objects) : std::nullopt);
  json.field("error", row.error);
  if (report.options.by == GroupBy::stack) {
    report.view->frames(report.stacks[row.key], frames);
    json_stack(json, "stack", frames);
  } else {
    json.field("key", report.keys[row.key]);
  }
}

std::string json_top(const TopReport& report, const Style& style, const AboveTop& above) {
  const Selection selection = select_rows(report, style);
  std::string out;
  std::vector<FrameView> frames;
  json_document(
      out, style.form, "rows", selection.rows, [&](JsonWriter& json) { top_head(json, report); },
      [&](JsonWriter& json, std::uint32_t row) {
        json.object([&] { top_row_fields(json, report, report.rows[row], frames); });
      },
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
