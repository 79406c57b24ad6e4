#pragma once

#include <cstdint>
#include <vector>

#include "snapdiff/device_memory.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::cuda {

/// Times that the input itself marks as the same moment of each iteration, ascending: ends of ProfilerStep#N (starts
/// where no ends are recorded), else ends of an optimizer's steps, else ends of the program's own marks that are called
/// steps or iterations. Empty without any.
struct StepMarks {
  Iterations::By by = Iterations::By::nothing;
  std::vector<std::int64_t> times;
};
StepMarks step_marks(const Snapshot& snapshot, std::uint32_t device);

/// How many events there are up to each of `times`, which ascend.
std::vector<std::uint64_t> events_up_to(const EventLog& events, const std::vector<std::int64_t>& times);

}  // namespace snapdiff::cuda
