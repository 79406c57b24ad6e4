#pragma once

#include <cstdint>
#include <vector>

#include "snapdiff/device_memory.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::cuda {

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
