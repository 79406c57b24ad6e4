#include "analyzer/base/number_text.hpp"
#include "analyzer/document/answer_parts.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

constexpr std::size_t kFailureLabel = 12;

void free_json(JsonWriter& json, std::string_view key, const FreeBytes& free, bool known) {
  json.object_or_null(key, known, [&] {
    json.field("bytes", free.bytes);
    json.field("largest", free.largest);
    json.field("blocks", free.blocks);
  });
}

std::string heaviest_text(const TopReport& live, const Style& style) {
  const Glyphs glyphs = glyphs_for(style.utf8);
  const Selection selection = select_rows(live, style);
  std::string out;
  std::vector<FrameView> frames;
  for (const std::uint32_t i : selection.rows) {
    const TopRow& row = live.rows[i];
    live.view->frames(live.stacks[row.key], frames);
    const std::string value = pad_left(bytes_text(row.value), 10);
    const std::string head = "  " + value + " " + pad_left(percent_text(row.value, live.total), 5) + "  ";
    out += head + stack_cell(frames, style.width > head.size() ? style.width - head.size() : 0, glyphs).text + "\n";
  }
  return out;
}

}  // namespace

std::string text_out_of_memory(const OutOfMemory& o, const Style& style) {
  std::string out = painted(document::failure_line(o), Paint::bold, style.colour) + "\n";
  for (const document::Fact& fact : document::failure_facts(o))
    out +=
        wrapped("  " + pad_right(fact.label, kFailureLabel) + " " + fact.text, style.width, kFailureLabel + 3) + "\n";
  return out;
}

std::string markdown_out_of_memory(const OutOfMemory& o) {
  std::string out = "**" + document::failure_line(o) + "**\n\n";
  for (const document::Fact& fact : document::failure_facts(o)) out += "- " + fact.label + ": " + fact.text + "\n";
  return out + "\n";
}

void json_out_of_memory_fields(JsonWriter& json, const OutOfMemory& o) {
  json.field("device", std::int64_t{o.device});
  json.field("event", static_cast<std::int64_t>(o.event));
  json.field("events", static_cast<std::int64_t>(o.events));
  json.field("failures", static_cast<std::int64_t>(o.failures));
  const auto time = [&](std::string_view key, std::int64_t us) {
    json.field_or_null(key, us == kNoTime ? std::nullopt : std::optional(us));
  };
  time("time_us", o.time_us);
  time("after_us", o.after_us);
  json.field("asked", o.asked);
  json.field("segment", o.segment);
  json.field("stream", o.stream);
  json.field("pool", document::pool_text(o.pool));
  json.field("device_free", o.device_free);
  json.field_or_null("reserved", o.reserved);
  json.field("allocated", o.allocated);
  json.field("requested", o.requested);
  json.field("blocks", o.blocks);
  json.field("pending", o.pending);
  json.field_or_null("largest_free", o.reserved ? std::optional(o.usable.largest) : std::nullopt);
  const bool known = o.reserved.has_value();
  free_json(json, "free_for_it", o.usable, known);
  free_json(json, "free_other_size", o.other_size, known);
  free_json(json, "free_other_streams", o.other_streams, known);
  free_json(json, "free_other_pools", o.other_pools, known);
  free_json(json, "releasable", o.cached.releasable, known);
  free_json(json, "fragments", o.cached.fragments, known);
  json.objects("holders", o.holders, [&](const CacheHolder& holder) {
    json.field_or_null("name", holder.function);
    json.field_or_null("file", holder.line.file);
    json.field_or_null("line", holder.line.line > 0 ? std::optional(std::int64_t{holder.line.line}) : std::nullopt);
    json.field("live", holder.live);
    json.field("free", holder.free);
    json.field("segments", holder.segments);
  });
  json.field("exact", o.exact);
  json.field("reason", to_text(o.reason));
  json.field("sentence", o.sentence);
}

std::string text_failure(const OutOfMemory& failure, const TopReport& live, const Style& style) {
  return text_out_of_memory(failure, style) + heaviest_text(live, style);
}

void json_failure(JsonWriter& json, const OutOfMemory& failure, const TopReport& live, const Style& style) {
  std::vector<FrameView> frames;
  json.object([&] {
    json_out_of_memory_fields(json, failure);
    json.objects("stacks", select_rows(live, style).rows, [&](std::uint32_t i) {
      const TopRow& row = live.rows[i];
      live.view->frames(live.stacks[row.key], frames);
      json.field("value", row.value);
      json.field_or_null("objects", live.has_objects ? std::optional(row.objects) : std::nullopt);
      json_stack(json, "stack", frames);
    });
  });
}

}  // namespace snapdiff::report
