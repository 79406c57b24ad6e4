#pragma once

#include <vector>

#include "analyzer/cuda/roles.hpp"

namespace snapdiff::cuda {

/// What the block is for that each event allocates, by number of the event; unknown for other events. One pass; memory
/// grows with the number of events, a byte each, and of different addresses.
std::vector<Role> roles_of_events(const EventLog& events, Roles& roles);

}  // namespace snapdiff::cuda
