#include <algorithm>

#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/json_story.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {

namespace {

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

bool has_objects(const PeekReport& report) {
  const auto counts = [](const PeekEdge& edge) { return edge.objects != Change{}; };
  return std::any_of(report.functions.begin(), report.functions.end(), [&](const PeekFunction& function) {
    return std::any_of(function.callers.begin(), function.callers.end(), counts) ||
           std::any_of(function.callees.begin(), function.callees.end(), counts);
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

}  // namespace

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

std::string json_peek(const PeekReport& report, const Style& style) {
  const bool lines = style.form == Form::jsonl;
  const bool objects = has_objects(report);
  std::string out;
  JsonWriter json(out, lines);
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
      JsonWriter line(out, true);
      peek_function(line, function, objects);
      out += '\n';
    }
    for (const std::uint32_t row : stacks) {
      JsonWriter line(out, true);
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

}  // namespace snapdiff::report
