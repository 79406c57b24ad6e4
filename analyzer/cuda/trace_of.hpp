#pragma once

#include <string>

#include "analyzer/cuda/cuda.hpp"

namespace snapdiff::cuda {

/// Null where the snapshot has no state of an allocator, or no such trace in it.
inline const DeviceTrace* find_trace(const Snapshot& snapshot, TraceRef ref) {
  return snapshot.allocator == nullptr ? nullptr : snapshot.allocator->trace(ref.device, ref.host);
}

/// The same, never null. Errors: usage (no such trace).
inline Result<const DeviceTrace*> trace_of(const Snapshot& snapshot, TraceRef ref) {
  if (const DeviceTrace* trace = find_trace(snapshot, ref); trace != nullptr) return trace;
  return Error{ErrorCode::usage, "no trace of device " + std::to_string(ref.device) + " in this snapshot"};
}

/// Whether a segment is of the device, or the host, whose trace it is.
inline bool is_of(const AllocatorState& state, std::size_t segment, TraceRef trace) {
  const bool host = (state.segments.flags[segment] & kSegmentHost) != 0;
  return host == trace.host && state.segments.device[segment] == trace.device;
}

/// The last allocation of a trace that failed.
struct Failure {
  TraceEvent event;
  std::uint64_t before = 0;  ///< events in front of it
  std::uint64_t count = 0;   ///< of failures
  std::int64_t start_us = kNoTime;
};

inline std::optional<Failure> last_failure(const EventLog& events) {
  std::optional<Failure> found;
  std::int64_t start = kNoTime;
  std::uint64_t count = 0;
  EventLog::Reader reader = events.read();
  TraceEvent event;
  for (std::uint64_t n = 0; reader.next(event); ++n) {
    if (start == kNoTime) start = event.time_us;
    if (event.action == TraceAction::oom) found = {event, n, ++count, start};
  }
  return found;
}

}  // namespace snapdiff::cuda
