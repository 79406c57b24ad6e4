#pragma once

#include <initializer_list>

#include "analyzer/base/snapshot_builder.hpp"

namespace snapdiff::formats {

/// The facts of a snapshot of numbers that were counted, not sampled.
inline SnapshotFacts& exact_facts(SnapshotBuilder& builder, std::string_view producer, std::string_view detail = {}) {
  SnapshotFacts& facts = builder.facts();
  facts.sampling = Sampling::exact;
  facts.producer = producer;
  if (!detail.empty()) facts.format_detail = detail;
  return facts;
}

/// A counter of a tool, as the tool calls it.
struct KnownCounter {
  std::string_view name, unit;
  bool cumulative = false;

  Counter with(std::int64_t value) const { return {std::string(name), value, std::string(unit), cumulative}; }
};

/// Null where none of them is called so.
inline const KnownCounter* known_counter(std::span<const KnownCounter> all, std::string_view name) {
  for (const KnownCounter& known : all) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

/// A label of text.
inline Label text_label(SnapshotBuilder& builder, std::string_view key, std::string_view value) {
  return {builder.string(key), builder.string(value), 0, StringId{}, false};
}

/// Where the rows of a type go: a stack of one frame that is called as the type, and the label
/// `type`, so that grouping by type, by function and by stack all show it.
struct TypeKey {
  StackId stack{};
  LabelSetId labels{};
};

/// `module` may be 0. `more` are further labels.
inline TypeKey type_key(SnapshotBuilder& builder, std::string_view type, ModuleId module = {},
                        std::vector<Label> more = {}) {
  const FrameId frame = builder.frame({.module = module, .function = builder.function(type)});
  more.push_back(text_label(builder, "type", type));
  return {builder.stack(std::span(&frame, 1)), builder.labels(std::move(more))};
}

/// A row of a type. Values are one a column.
inline void add_type_row(SnapshotBuilder& builder, std::string_view name, std::span<const std::int64_t> values,
                         ModuleId module = {}) {
  const TypeKey key = type_key(builder, name, module);
  builder.add_row(key.stack, key.labels, values);
}
inline void add_type_row(SnapshotBuilder& builder, std::string_view name, std::initializer_list<std::int64_t> values) {
  add_type_row(builder, name, std::span(values.begin(), values.size()));
}

}  // namespace snapdiff::formats
