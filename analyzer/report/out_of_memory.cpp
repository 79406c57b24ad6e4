#include <cstdio>

#include "analyzer/base/number_text.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

constexpr std::size_t kFailureLabel = 12;

std::string stream_text(std::uint64_t stream) {
  if (stream == 0) return "stream 0";
  char text[32] = {};
  std::snprintf(text, sizeof text, "stream 0x%llx", static_cast<unsigned long long>(stream));
  return text;
}

std::string seconds_text(std::int64_t us) {
  char text[48] = {};
  std::snprintf(text, sizeof text, "%.6g s", static_cast<double>(us) * 1e-6);
  return text;
}

std::string free_text(const FreeBytes& free) {
  if (free.blocks == 0) return "none";
  return bytes_text(free.bytes) + " in " + counted(free.blocks, "block") + ", the largest " + bytes_text(free.largest);
}

/// "2.10 GiB free, held by 12.0 MiB of forward model.py:39 in 8 segments".
std::string holder_text(const CacheHolder& holder) {
  std::string name = printable(holder.function, true);
  if (!holder.line.file.empty())
    name += " " + printable(base_name(holder.line.file), true) + ":" + std::to_string(holder.line.line);
  if (holder.function.empty()) name = "blocks without a Python stack";
  return bytes_text(holder.free) + " free, held by " + bytes_text(holder.live) + " of " + name + " in " +
         counted(holder.segments, "segment");
}

/// Bytes that an allocator could have given back, and the reason why it did not.
std::vector<std::pair<std::string, std::string>> back_lines(const OutOfMemory& o) {
  std::vector<std::pair<std::string, std::string>> lines;
  const FreeBytes& whole = o.cached.releasable;
  lines.emplace_back("releasable",
                     whole.blocks == 0 ? "none" : bytes_text(whole.bytes) + " in " + counted(whole.blocks, "segment"));
  for (const CacheHolder& holder : o.holders) lines.emplace_back("unreleasable", holder_text(holder));
  return lines;
}

/// Label and text of every line but the first.
std::vector<std::pair<std::string, std::string>> lines_of(const OutOfMemory& o) {
  std::vector<std::pair<std::string, std::string>> lines;
  lines.emplace_back("asked", bytes_text(o.asked) + " on " + stream_text(o.stream) +
                                  (o.pool == PoolId{} ? "" : ", pool " + pool_text(o.pool)) + "; a new segment takes " +
                                  bytes_text(o.segment));
  lines.emplace_back("device free", bytes_text(o.device_free));
  lines.emplace_back("reserved", o.reserved ? bytes_text(*o.reserved) : "not known, the snapshot holds no segments");
  lines.emplace_back("allocated", bytes_text(o.allocated) + " in " + counted(o.blocks, "block") + ", of it " +
                                      bytes_text(o.rounding()) + " by rounding up");
  if (o.pending > 0) lines.emplace_back("pending", bytes_text(o.pending) + " freed, waiting for another stream");
  if (o.reserved) {
    lines.emplace_back("free for it", free_text(o.usable));
    const auto other = [&lines](const char* label, const FreeBytes& free) {
      if (free.blocks > 0) lines.emplace_back(label, free_text(free));
    };
    other("other size", o.other_size);
    other("in streams", o.other_streams);
    other("in pools", o.other_pools);
    for (auto& line : back_lines(o)) lines.push_back(std::move(line));
    if (!o.exact)
      lines.emplace_back("worked out",
                         "from later events: sizes of blocks that are gone by the end are the least, gaps the most");
  }
  lines.emplace_back("reason", o.sentence);
  return lines;
}

std::string first_line(const OutOfMemory& o) {
  std::string line = "out of memory on device " + std::to_string(o.device);
  if (o.after_us != kNoTime) line += " " + seconds_text(o.after_us) + " into the trace";
  line += ", event " + count_text(o.event + 1) + " of " + count_text(o.events);
  if (o.failures > 1) line += ", the last of " + counted(o.failures, "failure");
  return line;
}

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
  std::string out = painted(first_line(o), Paint::bold, style.colour) + "\n";
  for (const auto& [label, text] : lines_of(o))
    out += wrapped("  " + pad_right(label, kFailureLabel) + " " + text, style.width, kFailureLabel + 3) + "\n";
  return out;
}

std::string markdown_out_of_memory(const OutOfMemory& o) {
  std::string out = "**" + first_line(o) + "**\n\n";
  for (const auto& [label, text] : lines_of(o)) out += "- " + label + ": " + text + "\n";
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
  json.field("pool", pool_text(o.pool));
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
