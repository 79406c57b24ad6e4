#include <algorithm>

#include "analyzer/base/number_text.hpp"
#include "analyzer/report/csv_record.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {

namespace {

constexpr std::size_t kAlikeShown = 2;  ///< of a longer run of frames that are alike, at its ends each

/// Both stacks in two columns; of what is alike only the frames next to a difference.
std::string side_by_side(const StackPair& pair, const Style& style, const Glyphs& glyphs) {
  const std::size_t width = (std::max<std::size_t>(style.width, 60) - 6) / 2;
  const auto line = [&](const std::string& before, const std::string& after, Paint paint) {
    const std::string left = pad_right(cut_name(before, width, glyphs.ellipsis), width);
    std::string text = "    " + left + "  " + cut_name(after, width, glyphs.ellipsis);
    while (text.back() == ' ') text.pop_back();
    return painted(text, paint, style.colour) + "\n";
  };
  std::string out = line("before", "after", Paint::dim);
  const std::vector<PairedFrame>& frames = pair.frames;
  for (std::size_t i = 0; i < frames.size();) {
    std::size_t end = i;
    while (end < frames.size() && frames[end].alike()) ++end;
    const std::size_t head = i == 0 ? 1 : kAlikeShown;
    if (end - i > head + kAlikeShown) {
      const std::size_t tail = end == frames.size() ? 1 : kAlikeShown;
      for (std::size_t k = 0; k < head; ++k) out += line(frames[i + k].before, "=", Paint::dim);
      out += painted("    " + std::string(glyphs.ellipsis) + " " + counted(end - i - head - tail, "frame") + " alike",
                     Paint::dim, style.colour) +
             "\n";
      i = end - tail;
    }
    for (; i < end; ++i) out += line(frames[i].before, "=", Paint::dim);
    for (; i < frames.size() && !frames[i].alike(); ++i) {
      const auto text = [&](const std::string& frame) { return frame.empty() ? std::string(glyphs.dash) : frame; };
      out += line(text(frames[i].before), text(frames[i].after), Paint::none);
    }
  }
  return out;
}

/// The stacks that two builds call otherwise, those that grew or shrank most.
std::string matched_stacks(const PeekReport& report, const Style& style) {
  const Glyphs glyphs = glyphs_for(style.utf8);
  const auto value = [&](std::int64_t number, bool sign) { return value_text(number, report.unit, sign); };
  const std::vector<StackPair> shown = shown_pairs(report, style.utf8);
  if (shown.empty()) return {};
  const std::size_t count = report.matched_rows.size();
  std::string out = "\nTwo builds: " + counted(count, "stack") +
                    (count == 1 ? " that holds it was" : " that hold one were") + " matched" +
                    (count > shown.size() ? ", these changed most" : "") + "\n";
  for (const StackPair& pair : shown) {
    const Change& change = pair.row->value;
    out += "\n  " + painted(value(change.growth(), true), growth_paint(change.growth()), style.colour) + "   " +
           value(change.baseline, false) + spaced(glyphs.arrow) + value(change.current, false) + "   " +
           matched_text(pair) + "\n" + side_by_side(pair, style, glyphs);
  }
  return out;
}

std::string text_peek(const PeekReport& report, const Style& style) {
  const Glyphs glyphs = glyphs_for(style.utf8);
  const auto value = [&](std::int64_t number, bool sign) { return value_text(number, report.unit, sign); };
  const std::string arrow = spaced(glyphs.arrow);
  std::string out = snapshot_name(report.baseline, style.utf8) + arrow + snapshot_name(report.current, style.utf8) +
                    "   " + printable(report.metric, style.utf8) + " " + value(report.total.growth(), true) +
                    " in all\n";
  out += counted(report.functions.size(), "function") + (report.functions.size() == 1 ? " matches " : " match ") +
         cut_middle(printable(report.regex, style.utf8), 60, glyphs.ellipsis) + "\n";

  std::size_t shown = 0;
  for (const PeekFunction& function : report.functions) {
    if (style.max_rows != 0 && shown++ == style.max_rows) {
      out += "\n[";
      out += counted(report.functions.size() - style.max_rows, "more function");
      out += "]\n";
      break;
    }
    Sheet table({{"growth", 10, true, ""}, {"", 5, true, " "}, {"before", 9, true, " "}, {"after", 8, true, arrow}}, "",
                style.thousands);
    std::vector<std::pair<std::string, std::string>> names;  // lead, name
    const auto add = [&](const Change& change, std::int64_t whole, const std::string& lead, const std::string& name) {
      Sheet::Row& row = table.add();
      row.cells = {{value(change.growth(), true), growth_paint(change.growth())},
                   {whole == 0 ? "" : percent_text(change.growth(), whole), Paint::none},
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
  out += matched_stacks(report, style);
  if (!style.footer.empty()) out += "\n" + style.footer + "\n";
  return out;
}

std::string markdown_peek(const PeekReport& report, const Style& style) {
  const Glyphs glyphs;
  std::string out = markdown_title(report.baseline, report.current, report.metric, report.total, report.unit);
  const auto value = [&](std::int64_t number, bool sign) { return value_text(number, report.unit, sign); };
  std::size_t shown = 0;
  for (const PeekFunction& function : report.functions) {
    if (style.max_rows != 0 && shown++ == style.max_rows) break;
    out += "#### " + literal(key_text(function.function, GroupBy::function, kMarkdownName, glyphs)) + "\n\n";
    Sheet table({{"growth"}, {"before"}, {"after"}, {"relation", 0, false}}, "function", {});
    const auto line = [&](const Change& change, const std::string& relation, const std::string& name) {
      table.add() = {
          {{value(change.growth(), true)}, {value(change.baseline, false)}, {value(change.current, false)}, {relation}},
          name.empty() ? "" : literal(key_text(name, GroupBy::function, kMarkdownName, glyphs))};
    };
    for (const PeekEdge& edge : function.callers) line(edge.value, "called by", edge.function);
    line(function.cumulative, "cum", "");
    for (const PeekEdge& edge : function.callees) line(edge.value, "calls", edge.function);
    line(function.flat, "flat", "");
    out += table.markdown() + "\n";
  }
  for (const StackPair& pair : shown_pairs(report, true)) {
    out += "#### " + value(pair.row->value.growth(), true) + ", " + matched_text(pair) + "\n\n";
    Sheet table({{"before", 0, false}}, "after", {});
    for (const PairedFrame& frame : pair.frames)
      table.add() = {{{literal(frame.before)}}, frame.alike() ? "=" : literal(frame.after)};
    out += table.markdown() + "\n";
  }
  return out;
}

std::string csv_peek(const PeekReport& report) {
  std::string out = "function,relation,other,baseline,current,growth\r\n";
  const auto row = [&](const PeekFunction& function, std::string_view relation, std::string_view other,
                       const Change& value) {
    Record record(out);
    record.text(function.function);
    record.text(relation);
    record.text(other);
    record.change(value);
  };
  for (const PeekFunction& function : report.functions) {
    row(function, "flat", "", function.flat);
    row(function, "cum", "", function.cumulative);
    for (const PeekEdge& edge : function.callers) row(function, "caller", edge.function, edge.value);
    for (const PeekEdge& edge : function.callees) row(function, "callee", edge.function, edge.value);
  }
  return out;
}

bool has_objects(const PeekReport& report) {
  const auto counts = [](const PeekEdge& edge) { return edge.objects != Change{}; };
  return std::ranges::any_of(report.functions, [&](const PeekFunction& function) {
    return std::ranges::any_of(function.callers, counts) || std::ranges::any_of(function.callees, counts);
  });
}

void peek_edges(JsonWriter& json, std::string_view key, const std::vector<PeekEdge>& edges, bool objects) {
  json.objects(key, edges, [&](const PeekEdge& edge) {
    json.field("function", edge.function);
    json_change_fields(json, edge.value);
    json_object_fields(json, objects, edge.objects);
  });
}

void peek_function(JsonWriter& json, const PeekFunction& function, bool objects) {
  json.object([&] {
    json.field("function", function.function);
    json_change(json, "flat", function.flat);
    json_change(json, "cum", function.cumulative);
    peek_edges(json, "callers", function.callers, objects);
    peek_edges(json, "callees", function.callees, objects);
  });
}

std::string json_peek(const PeekReport& report, const Style& style) {
  const bool lines = style.form == Form::jsonl;
  const bool objects = has_objects(report);
  std::string out;
  JsonWriter json(out, lines ? JsonLayout::one_line : JsonLayout::rows, style.sink);
  json.begin_object();
  json.field("schema", "snapdiff.peek/1");
  json.field("metric", report.metric);
  json.field("unit", report.unit);
  json.field("regex", report.regex);
  json_snapshot(json, "baseline", report.baseline);
  json_snapshot(json, "current", report.current);
  json_change(json, "total", report.total);
  const auto stacks = std::span(report.matched_rows).first(shown_of(report.matched_rows.size(), style));
  if (lines) {
    json.end_object();
    out += '\n';
    for (const PeekFunction& function : report.functions) {
      JsonWriter line(out, JsonLayout::one_line, style.sink);
      peek_function(line, function, objects);
      out += '\n';
    }
    for (const std::uint32_t row : stacks) {
      JsonWriter line(out, JsonLayout::one_line, style.sink);
      json_growth_row(line, *report.by_stack, row);
      out += '\n';
    }
    return out;
  }
  json.rows("functions", report.functions,
            [&](const PeekFunction& function) { peek_function(json, function, objects); });
  if (report.by_stack != nullptr) {
    json.rows("matched_stacks", stacks, [&](const std::uint32_t row) { json_growth_row(json, *report.by_stack, row); });
  }
  json.end_object();
  return out + "\n";
}

}  // namespace

std::string write_peek(const PeekReport& report, const Style& style) {
  return in_form(
      style.form, [&] { return text_peek(report, style); }, [&] { return markdown_peek(report, style); },
      [&] { return csv_peek(report); }, [&] { return json_peek(report, style); });
}

}  // namespace snapdiff::report
