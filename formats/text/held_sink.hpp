#pragma once

#include <cstddef>
#include <optional>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats::text {

/// Hands snapshots on one late, so that what is found after the last one (a cut report, lines
/// that no one understood) can still be noted on it. Throws ReadFailure for what the sink returns.
class HeldSink {
 public:
  explicit HeldSink(SnapshotSink& out) : out_(out) {}

  void take(Snapshot snapshot);
  /// What the builder made of it. Throws ReadFailure for its errors.
  void take(Result<Snapshot> snapshot);

  bool empty() const { return taken_ == 0; }
  std::size_t taken() const { return taken_; }
  /// The last one; there must be one.
  SnapshotFacts& last() { return held_->facts; }

  /// The last snapshot goes out; nothing can be noted on it any more.
  void flush();

 private:
  SnapshotSink& out_;
  std::optional<Snapshot> held_;
  std::size_t taken_ = 0;
};

}  // namespace snapdiff::formats::text
