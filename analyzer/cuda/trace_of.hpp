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

}  // namespace snapdiff::cuda
