#include <algorithm>
#include <functional>
#include <span>

#include "analyzer/base/number_text.hpp"
#include "analyzer/document/answer_parts.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

/// Segments with most pinned bytes first, those without left out.
std::vector<std::uint32_t> pinned_segments(const PinReport& report) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t s = 0; s < report.segments.size(); ++s) {
    if (report.segments[s].pinned > 0) order.push_back(s);
  }
  std::ranges::stable_sort(order, std::greater<>(), [&](std::uint32_t s) { return report.segments[s].pinned; });
  return order;
}

void sum(PinnedRow& total, const PinnedRow& row) {
  total.live += row.live;
  total.pinned += row.pinned;
  total.sole += row.sole;
  total.segments = -1;  // a segment may be held by several stacks
}

/// The rows shown, the others, the total.
std::string pins_table(const PinReport& report, const Style& style) {
  const std::size_t shown = shown_of(report.rows.size(), style);
  std::vector<PinnedRow> lines(report.rows.begin(), report.rows.begin() + static_cast<std::ptrdiff_t>(shown));
  if (shown < report.rows.size()) {
    lines.emplace_back();
    for (std::size_t i = shown; i < report.rows.size(); ++i) sum(lines.back(), report.rows[i]);
  }
  lines.emplace_back();
  for (const PinnedRow& row : report.rows) sum(lines.back(), row);

  Sheet sheet("stack (leaf first)", style.thousands);
  const auto bytes = [&](const std::string& header, const std::string& separator, Change PinnedRow::*part) {
    sheet.column({header, 9, true, separator}, lines,
                 [&](const PinnedRow& row) { return Sheet::Cell{bytes_text((row.*part).current)}; });
  };
  const auto growth = [&](Change PinnedRow::*part) {
    if (!report.has_baseline()) return;
    sheet.column({"growth", 9, true, " "}, lines, [&](const PinnedRow& row) {
      const std::int64_t change = (row.*part).growth();
      return Sheet::Cell{growth_text(change), growth_paint(change)};
    });
  };
  bytes("live", "", &PinnedRow::live);
  growth(&PinnedRow::live);
  sheet.column({"segs", 5, true, " "}, lines,
               [](const PinnedRow& row) { return Sheet::Cell{row.segments < 0 ? "" : count_text(row.segments)}; });
  bytes("pinned", " ", &PinnedRow::pinned);
  growth(&PinnedRow::pinned);
  bytes("alone in", " ", &PinnedRow::sole);
  sheet.call(stack_cells(
      shown,
      [&](std::size_t i, std::vector<FrameView>& frames) {
        report.view->frames(report.stacks[report.rows[i].key], frames);
      },
      sheet.rest_width(style.width), glyphs_for(style.utf8)));
  if (shown < report.rows.size()) sheet.rows()[shown].last = others_text(report.rows.size() - shown);
  sheet.rows().back().last = "TOTAL";
  return sheet.text(style.colour);
}

std::string segment_table(const PinReport& report, const Style& style) {
  const std::vector<std::uint32_t> order = pinned_segments(report);
  const std::size_t shown =
      std::min<std::size_t>(shown_of(order.size(), style), style.max_rows == 0 ? order.size() : 5);
  std::vector<SegmentFacts> lines;
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(report.segments[order[i]]);
  if (shown < order.size()) lines.emplace_back();  // the others
  for (std::size_t i = shown; i < order.size(); ++i) {
    lines.back().size += report.segments[order[i]].size;
    lines.back().live += report.segments[order[i]].live;
    lines.back().pinned += report.segments[order[i]].pinned;
  }
  Sheet sheet("segment", style.thousands);
  const auto bytes = [&](const std::string& header, const std::string& separator, std::int64_t SegmentFacts::*part) {
    sheet.column({header, 9, true, separator}, lines,
                 [&](const SegmentFacts& s) { return Sheet::Cell{bytes_text(s.*part)}; });
  };
  bytes("size", "", &SegmentFacts::size);
  bytes("live", " ", &SegmentFacts::live);
  bytes("pinned", " ", &SegmentFacts::pinned);
  sheet.column({"stacks", 6}, lines,
               [](const SegmentFacts& s) { return Sheet::Cell{s.holders == 0 ? "" : count_text(s.holders)}; });
  for (std::size_t i = 0; i < shown; ++i) {
    const SegmentFacts& s = lines[i];
    sheet.rows()[i].last = "device " + std::to_string(s.device) + ", " + hex_text(s.address) +
                           (s.stream == 0 ? "" : ", stream " + hex_text(s.stream)) +
                           (s.pool == PoolId{} ? "" : ", pool " + document::pool_text(s.pool)) +
                           ((s.flags & kSegmentExpandable) != 0 ? ", expandable" : "");
  }
  if (shown < order.size()) sheet.rows().back().last = others_text(order.size() - shown);
  return sheet.text(style.colour);
}

std::string pins_text(const PinReport& report, const Style& style) {
  const auto segments = static_cast<std::int64_t>(report.segments.size());
  std::string out = operand_name(report.current, style.utf8) + "   " + bytes_text(report.pinned.current) +
                    " pinned   " + bytes_text(report.live.current) + " live   " + bytes_text(report.reserved) + " in " +
                    counted(segments, "segment") + "\n";
  if (report.has_baseline())
    out += wrapped_line("since " + operand_name(report.baseline, style.utf8) + ": pinned " +
                            growth_text(report.pinned.growth()) + ", live " + growth_text(report.live.growth()),
                        style);
  out += "\n" + pins_table(report, style);
  if (report.pinned.current > 0) out += "\n" + segment_table(report, style);
  out += "\n" + wrapped_line(
                    "pinned: free bytes of a segment in which something is in use, shared evenly among its stacks; "
                    "alone in: segments that could go back if this stack were gone",
                    style);
  if (report.releasable > 0)
    out +=
        wrapped_line(bytes_text(report.releasable) + " in segments without a live block are pinned by nothing", style);
  return out;
}

void change(JsonWriter& json, std::string_view key, const Change& value, bool before) {
  if (before) {
    json_change(json, key, value);
    return;
  }
  json.object(key, [&] {
    json.field_or_null("baseline", std::optional<std::int64_t>());
    json.field("current", value.current);
    json.field_or_null("growth", std::optional<std::int64_t>());
  });
}

void row_fields(JsonWriter& json, const PinReport& report, const PinnedRow& row, std::vector<FrameView>& frames) {
  const bool before = report.has_baseline();
  change(json, "live", row.live, before);
  change(json, "pinned", row.pinned, before);
  change(json, "sole", row.sole, before);
  json.field("segments", row.segments);
  json.field("sole_segments", row.sole_segments);
  report.view->frames(report.stacks[row.key], frames);
  json_stack(json, "stack", frames);
}

std::string pins_json(const PinReport& report, const Style& style) {
  return json_text(style.sink, [&](JsonWriter& json) {
    json.field("schema", "snapdiff.pins/1");
    json.key("baseline");
    report.has_baseline() ? json_snapshot(json, report.baseline) : json.null();
    json_snapshot(json, "current", report.current);
    change(json, "live", report.live, report.has_baseline());
    change(json, "pinned", report.pinned, report.has_baseline());
    json.field("reserved", report.reserved);
    json.field("releasable", report.releasable);
    std::vector<FrameView> frames;
    const std::size_t shown = shown_of(report.rows.size(), style);
    json.object_rows("rows", std::span(report.rows).first(shown),
                     [&](const PinnedRow& row) { row_fields(json, report, row, frames); });
    std::int64_t others = 0;
    for (std::size_t i = shown; i < report.rows.size(); ++i) others += report.rows[i].pinned.current;
    json.object("others", [&] {
      json.field("rows", report.rows.size() - shown);
      json.field("pinned", others);
    });
    json.object_rows("segments", report.segments, [&](const SegmentFacts& s) {
      json.field("device", std::int64_t{s.device});
      json.field("stream", s.stream);
      json.field("pool", document::pool_text(s.pool));
      json.field("address", s.address);
      json.field("small", (s.flags & kSegmentSmall) != 0);
      json.field("expandable", (s.flags & kSegmentExpandable) != 0);
      json.field("size", s.size);
      json.field("live", s.live);
      json.field("rounding", s.rounding);
      json.field("pending", s.pending);
      json.field("free", s.free);
      json.field("pinned", s.pinned);
      json.field("stacks", std::int64_t{s.holders});
    });
  });
}

}  // namespace

std::string write_pins(const PinReport& report, const Style& style) {
  return style.form == Form::text ? pins_text(report, style) : pins_json(report, style);
}

}  // namespace snapdiff::report
