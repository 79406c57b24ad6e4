#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/cuda/cuda.hpp"
#include "snapdiff/device_memory.hpp"
#include "snapdiff/snapshot.hpp"

/// A question about the trace of one device.
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

/// Whether a segment belongs to the device, or the host, of the trace.
inline bool is_of(const AllocatorState& state, std::size_t segment, TraceRef trace) {
  const bool host = (state.segments.flags[segment] & kSegmentHost) != 0;
  return host == trace.host && state.segments.device[segment] == trace.device;
}

/// The last allocation of a trace that failed.
struct Failure {
  TraceEvent event;
  std::uint64_t before = 0;  ///< events that precede it
  std::uint64_t count = 0;   ///< of failures
  std::int64_t start_us = kNoTime;
};

std::optional<Failure> last_failure(const EventLog& events);

/// Times that the input itself marks as the same moment of each iteration, ascending: ends of ProfilerStep#N (starts
/// where no ends are recorded), else ends of an optimizer's steps, else ends of the program's own marks that are called
/// steps or iterations. Empty without any.
///   begins  of an optimizer's steps: when these began
struct StepMarks {
  Iterations::By by = Iterations::By::nothing;
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> begins;
};
StepMarks step_marks(const Snapshot& snapshot, std::uint32_t device);

/// How many events there are up to each of `times`, which ascend.
std::vector<std::uint64_t> events_up_to(const EventLog& events, const std::vector<std::int64_t>& times);

/// The same of marks that end an iteration of the trace: neither those from before its first event, nor of a step in
/// which memory ran out.
std::vector<std::uint64_t> ends_of(const EventLog& events, const StepMarks& marks);

}  // namespace snapdiff::cuda
