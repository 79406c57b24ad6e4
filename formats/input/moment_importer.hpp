#pragma once

#include <string>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats {

/// Reads a format whose files tell more than one moment of the heap, and most of them tell too many to
/// give all: read() gives the usual one, read_at() those that the user asks for.
class MomentImporter : public Importer {
 public:
  /// As read(), at `point`: what stands behind the @ of FILE@POINT ("peak", "12.5s", "every:500ms", "1200").
  /// facts.position is unique among all moments of one input, and 0 is that of read().
  /// Errors: as read(); usage (no such point; says which there are).
  virtual Status read_at(Input& in, SnapshotSink& out, const std::string& point) const = 0;
};

}  // namespace snapdiff::formats
