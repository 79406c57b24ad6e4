#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Several series on one axis of time, where some inputs hold no times.
namespace snapdiff {

/// What is known about the times of one series.
///   taken_at_ns  from inside the inputs, one per snapshot, in the series' order
///   ordered      the inputs record that order: by times, by numbers in their names, by places in one file
///   restarts     its process seems to have restarted in between
struct TimedSeries {
  std::vector<std::optional<std::int64_t>> taken_at_ns;
  bool ordered = false;
  bool restarts = false;
};

/// Times for snapshots that hold none: guesses to draw and list by, never to order or judge by.
///   estimated_ns  one per snapshot; only where none is known
///   count         how many there are
///   why_not       why a snapshot without a time has no estimate; "" where each has one
struct EstimatedTimes {
  std::vector<std::optional<std::int64_t>> estimated_ns;
  std::size_t count = 0;
  std::string why_not;
};

/// The axis, from the first to the last known time; empty where no time is known, or where known times are of
/// different occasions. `series` is parallel to the series asked about.
struct SharedAxis {
  std::optional<std::int64_t> first_ns, last_ns;
  std::vector<EstimatedTimes> series;
};

}  // namespace snapdiff
