#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/report/json_writer.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/selection.hpp"
#include "snapdiff/device_memory.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/story.hpp"

/// Pieces that several of the machine forms share (product.md section 3, machine output).
namespace snapdiff::report {

/// RFC 3339 in UTC, with the decimals of the time: "2024-05-01T12:00:00Z".
std::string rfc3339(std::int64_t nanoseconds);

void json_snapshot(JsonWriter& json, const SnapshotRef& ref);
void json_snapshot(JsonWriter& json, std::string_view key, const SnapshotRef& ref);
void json_change(JsonWriter& json, std::string_view key, const Change& change);
/// {"baseline_objects", "current_objects", "growth_objects"} into the object that is open, null where not known.
void json_object_fields(JsonWriter& json, bool known, const Change& objects);
/// {"baseline", "current", "growth"} into the object that is open.
void json_change_fields(JsonWriter& json, const Change& change);
void json_instances(JsonWriter& json, const InstanceCount& count);
/// Where growth is not their difference: counters that restarted.
void json_change_fields(JsonWriter& json, const Change& change, std::int64_t growth);
void json_stack(JsonWriter& json, std::string_view key, std::span<const FrameView> frames);
/// "metric", "unit" and "by" of a report, and which label rows are grouped by.
template <class Report>
void json_view_fields(JsonWriter& json, const Report& report) {
  json.field("metric", report.metric);
  json.field("unit", report.unit);
  json.field("by", to_text(report.options.by));
  if (report.options.by == GroupBy::label) json.field("label", report.options.label_key);
}
/// The name of a row: its "stack", else the "key" of its group. `frames` is scratch.
void json_row_name(JsonWriter& json, const GrowthReport& report, const GrowthRow& row, std::vector<FrameView>& frames);
/// A step of a series: which snapshot, its total, its growth.
void json_step_fields(JsonWriter& json, const SeriesStep& step);
/// "names": how many addresses have one, and where they are missing.
void json_unnamed(JsonWriter& json, const Unnamed& unnamed);
void json_notes(JsonWriter& json, const Notes& notes);
/// The fields of a failed allocation, into the object that is open.
void json_out_of_memory_fields(JsonWriter& json, const OutOfMemory& failure);
/// RSS, its parts, what their growth means and what no file tells, into the object that is open.
void json_waterfall_fields(JsonWriter& json, const Waterfall& waterfall);
/// "others", "unattributed" and "filtered": what completes the sum of the rows shown.
void json_rest(JsonWriter& json, const GrowthReport& report, const Others& others);
/// "listed_once", where there is such a stack.
void json_listed_once(JsonWriter& json, const GrowthReport& report);
/// One row of a diff, as an object.
void json_growth_row(JsonWriter& json, const GrowthReport& report, std::uint32_t row);

/// The fullest moment of a device's trace as an object.
void json_peak(JsonWriter& json, const PeakStory& peak);

/// "story" of a report, into the object that is open; null without a story.
void json_story_fields(JsonWriter& json, const GrowthReport& report);

/// What `head` writes, the rows at `name`, and what `tail` writes, as one object.
template <class Rows, class Head, class Row, class Tail>
void json_object_of_rows(JsonWriter& json, std::string_view name, const Rows& rows, const Head& head, const Row& row,
                         const Tail& tail) {
  json.object([&] {
    head(json);
    json.rows(name, rows, [&](const auto& one) { row(json, one); });
    tail(json);
  });
}

/// The same as a document; as JSON Lines a header line of all but the rows, then a line for each row.
template <class Rows, class Head, class Row, class Tail>
void json_document(std::string& out, const Style& style, std::string_view name, const Rows& rows, const Head& head,
                   const Row& row, const Tail& tail) {
  const bool lines = style.form == Form::jsonl;
  JsonWriter json(out, lines ? JsonLayout::one_line : JsonLayout::rows, style.sink);
  if (!lines) {
    json_object_of_rows(json, name, rows, head, row, tail);
    out += '\n';
    return;
  }
  json.object([&] {
    head(json);
    tail(json);
  });
  out += '\n';
  for (const auto& one : rows) {
    JsonWriter line(out, JsonLayout::one_line, style.sink);
    row(line, one);
    out += '\n';
  }
}

}  // namespace snapdiff::report
