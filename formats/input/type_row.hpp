#pragma once

#include <span>
#include <string_view>

#include "snapdiff/snapshot_builder.hpp"

namespace snapdiff::formats {

/// A row of a type alone: a stack of one frame with its name, and the label `type`. Values are one a column.
inline void add_type_row(SnapshotBuilder& builder, std::string_view name, std::span<const std::int64_t> values) {
  SnapshotBuilder::FrameSpec spec;
  const StringId text = builder.string(name);
  spec.function = builder.function(text, text, StringId{}, 0);
  const FrameId frame = builder.frame(spec);
  Label label;
  label.key = builder.string("type");
  label.text = text;
  builder.add_row(builder.stack(std::span(&frame, 1)), builder.labels({label}), values);
}

}  // namespace snapdiff::formats
