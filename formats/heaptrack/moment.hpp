#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace snapdiff::formats::heaptrack {

inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

/// Where a recording is cut.
///   end           after the last event
///   peak          when most bytes were live; the first such moment
///   after_events  after `number` allocations and frees
///   at_time       at the first time stamp of at least `number` milliseconds
///   first_stamp   at the first time stamp after an event
///   every_events, every_time   again and again, and at the end
struct Moment {
  enum class Kind : std::uint8_t { end, peak, after_events, at_time, first_stamp, every_events, every_time };
  Kind kind = Kind::end;
  std::uint64_t number = 0;
  bool is_series() const { return kind == Kind::every_events || kind == Kind::every_time; }
};

/// "end", "last", "peak", "first", "1200" (events), "12.5s", "500ms", "every:1000", "every:500ms", "every:2s".
/// Throws Failure: usage.
Moment parse_moment(const std::string& point);

}  // namespace snapdiff::formats::heaptrack
