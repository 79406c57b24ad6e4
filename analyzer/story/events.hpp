#pragma once

#include <vector>

#include "snapdiff/device_memory.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/story.hpp"
#include "snapdiff/trend.hpp"

namespace snapdiff::story {

/// Inputs that were read in part; two snapshots that share almost no stack.
std::vector<Event> events_of(const GrowthReport& report);
Event event_of(const OutOfMemory& failure);
Event restart_event(const TrendReport& trend);

}  // namespace snapdiff::story
