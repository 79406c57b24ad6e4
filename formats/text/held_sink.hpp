#pragma once

#include "formats/input/read_failure.hpp"

namespace snapdiff::formats::text {

/// Hands snapshots on one late, so that what is found after the last one (a cut report, lines
/// that no one understood) can still be noted on it. Throws Failure for what the sink returns.
class HeldSink {
 public:
  explicit HeldSink(SnapshotSink& out) : out_(out) {}

  /// What a builder made, say. Throws Failure for its error.
  void take(Result<Snapshot>&& snapshot) {
    Snapshot taken = value_or_throw(std::move(snapshot));
    flush();
    held_ = std::move(taken);
    empty_ = false;
  }

  bool empty() const { return empty_; }
  /// The last one; there must be one.
  SnapshotFacts& last() { return held_->facts; }

  /// The last snapshot goes out; nothing can be noted on it any more.
  void flush() {
    if (std::optional<Snapshot> last = std::exchange(held_, std::nullopt)) give(out_, std::move(*last));
  }

 private:
  SnapshotSink& out_;
  std::optional<Snapshot> held_;
  bool empty_ = true;
};

}  // namespace snapdiff::formats::text
