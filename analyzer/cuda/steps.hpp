#pragma once

#include <cstdint>
#include <vector>

#include "snapdiff/snapshot.hpp"

namespace snapdiff::cuda {

/// Times of the marks that begin a step: ProfilerStep#N, else the ends of an optimizer's steps. Ascending.
std::vector<std::int64_t> step_times(const Snapshot& snapshot, std::uint32_t device);

}  // namespace snapdiff::cuda
