#pragma once

#include "formats/heaptrack/heap_recording.hpp"

namespace snapdiff::formats::heaptrack {

/// What a snapshot says beside its rows.
struct SnapshotWish {
  std::uint64_t events = 0;   ///< after so many
  std::uint64_t time_ms = 0;  ///< at this time of the recording
  bool cumulative = false;    ///< with all that was ever allocated: only for the state that was read last
  bool is_peak = false;
  std::optional<std::span<const std::int64_t>> live = std::nullopt;  ///< by allocation; else what is live now
};

/// The blocks of the recording that were live then.
/// Throws Failure: limit, as SnapshotBuilder::finish(); stacks of more than 2^28 frames in all.
Snapshot make_snapshot(const Recording& recording, const SnapshotWish& wish);

}  // namespace snapdiff::formats::heaptrack
