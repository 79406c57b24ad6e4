#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "snapdiff/checked.hpp"

/// Small snapshots for the store's tests.
namespace snapdiff::test {

/// "f7". (Not operator+: g++ 12 warns about its own string header there.)
inline std::string numbered(std::string_view prefix, std::uint64_t number) {
  std::string text(prefix);
  return text.append(std::to_string(number));
}

/// Frames from a folded stack, "main;parse;alloc" (root first), as function names.
inline StackId folded(SnapshotBuilder& builder, std::string_view stack) {
  std::vector<FrameId> leaf_first;
  while (!stack.empty()) {
    const std::size_t end = std::min(stack.find(';'), stack.size());
    SnapshotBuilder::FrameSpec spec;
    const StringId name = builder.string(stack.substr(0, end));
    spec.function = builder.function(name, name, builder.string("a.cc"), 0);
    spec.line = static_cast<std::int32_t>(end);
    leaf_first.insert(leaf_first.begin(), builder.frame(spec));
    stack.remove_prefix(std::min(end + 1, stack.size()));
  }
  return builder.stack(leaf_first);
}

struct SmallRow {
  std::string stack;
  std::int64_t objects = 0;
  std::int64_t bytes = 0;
};

/// Objects and bytes per folded stack. `name` is the path, and what the checksum is made of.
inline Snapshot small(const std::string& name, const std::vector<SmallRow>& rows) {
  SnapshotBuilder builder;
  builder.add_column({"inuse_objects", "count"});
  builder.add_column({"inuse_space", "bytes"});
  for (const SmallRow& row : rows) {
    const std::int64_t values[] = {row.objects, row.bytes};
    builder.add_row(folded(builder, row.stack), LabelSetId{}, values);
  }
  builder.facts().source.name = name;
  builder.facts().source.sha256 = "sha256 of " + name;
  builder.facts().source.size_bytes = name.size();
  builder.facts().format = "made";
  auto made = builder.finish();
  return std::move(made).value();
}

/// Anything a model may hold: values over the whole range, unknown ones, labels of both kinds,
/// frames of all kinds, every fact.
inline Snapshot wild(unsigned seed, std::size_t rows, std::size_t columns) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  const auto text = [&](const char* kind) {
    std::string made = numbered(kind, below(40));
    if (below(6) == 0) made += std::string("\xff\0\n\x01'\"%", 7);
    return made;
  };
  SnapshotBuilder b;
  for (std::size_t c = 0; c < columns; ++c) {
    const char* const unit = c % 2 == 0 ? "count" : "bytes";
    // The last of three or more tells the rounding of the one before.
    const bool is_rounding = c > 1 && c + 1 == columns;
    const std::string name = is_rounding ? half_unit_name(numbered("metric", c - 1)) : numbered("metric", c);
    b.add_column({name, unit}, static_cast<std::int64_t>(below(3)));
  }
  std::vector<std::int64_t> totals(columns);
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<FrameId> frames;
    for (std::uint64_t depth = below(9) == 0 ? below(200) : below(12); depth > 0; --depth) {
      SnapshotBuilder::FrameSpec spec;
      if (below(3) != 0) spec.module = b.module(text("/lib/m"), below(2) == 0 ? text("id") : "");
      if (below(3) != 0) spec.offset = below(4) == 0 ? random() : below(5000);
      if (below(3) != 0)
        spec.function = b.function(b.string(text("f")), b.string(text("_Z")), b.string(text("file")),
                                   static_cast<std::int32_t>(below(100)));
      spec.line = static_cast<std::int32_t>(below(50));
      spec.column = static_cast<std::int32_t>(below(3));
      spec.flags = below(5) == 0 ? kFrameInlined : std::uint8_t{0};
      frames.push_back(b.frame(spec));
    }
    std::vector<Label> labels;
    for (std::uint64_t n = below(3) == 0 ? below(4) : 0; n > 0; --n) {
      Label label;
      label.key = b.string(text("key"));
      label.is_number = below(2) == 0;
      if (label.is_number) {
        label.number = static_cast<std::int64_t>(random());
        label.unit = b.string(below(2) == 0 ? "bytes" : "");
      } else {
        label.text = b.string(text("value"));
      }
      labels.push_back(label);
    }
    std::vector<std::int64_t> values(columns);
    std::vector<std::uint8_t> known(columns, 1);
    for (std::size_t c = 0; c < columns; ++c) {
      values[c] = static_cast<std::int64_t>(below(3) == 0 ? 0 : below(1'000'000'000));
      if (below(20) == 0) values[c] = -values[c];
      if (below(5) == 0) values[c] = static_cast<std::int64_t>(random()) / 1024;
      std::int64_t sum = 0;
      if (!checked_add(totals[c], values[c], sum)) values[c] = 0;
      totals[c] += values[c];
      known[c] = below(15) == 0 ? 0 : 1;
    }
    b.add_row(b.stack(frames), b.labels(std::move(labels)), values, known);
  }
  for (std::uint64_t start = 0x1000; start < 0x9000; start += 0x1000)
    b.add_mapping({start, start + below(0x1000), below(0x10000), b.module(text("/lib/m"), "")});
  b.add_mapping({std::uint64_t{0} - 4096, std::uint64_t{0} - 1, random(), ModuleId{}});
  SnapshotFacts& f = b.facts();
  f.source = {numbered("wild", seed), numbered("sha", seed), random(), static_cast<std::int64_t>(random())};
  f.format = "wild";
  f.format_detail = text("detail");
  f.producer = text("producer");
  if (below(2) == 0) f.taken_at_ns = static_cast<std::int64_t>(random());
  if (below(2) == 0) f.duration_ns = static_cast<std::int64_t>(random());
  if (below(2) == 0) f.pid = 7;
  if (below(2) == 0) f.sequence = static_cast<std::int64_t>(seed);
  f.position = static_cast<std::uint32_t>(below(5));
  f.host = text("host");
  if (below(2) == 0) f.rank = 3;
  f.command_line = text("command");
  f.default_metric = "metric0";
  f.sampling = static_cast<Sampling>(below(3));
  f.period = static_cast<std::int64_t>(below(1 << 20));
  f.partial = below(2) == 0;
  f.complete = below(2) == 0;
  f.is_delta = below(2) == 0;
  f.is_diff = below(2) == 0;
  f.drop_frames = text("drop");
  f.keep_frames = text("keep");
  f.doc_url = text("url");
  f.comments = {text("first"), "", text("second")};
  f.counters = {{"HeapSys", static_cast<std::int64_t>(random()), "bytes", false, 512},
                {"Mallocs", -1, "count", true, 0}};
  f.labels = {{text("label"), text("x")}, {"empty", ""}};
  f.notes.add(Severity::data_loss, text("lost"), random(), 3);
  f.notes.add(Severity::info, "seen");
  auto made = b.finish();
  return std::move(made).value();
}

}  // namespace snapdiff::test
