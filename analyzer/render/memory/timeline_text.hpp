#pragma once

#include <cstdint>
#include <string>

#include "analyzer/render/render.hpp"

/// What the page of a timeline says in words.
namespace snapdiff::render {

/// Seconds, or milliseconds of short traces.
struct TimeScale {
  double span = 0;  ///< in units
  std::string unit;
};
TimeScale time_scale(std::int64_t span_us);

/// The failure, both ends, the peak.
std::string timeline_sentence(const MemoryTimeline& t);

/// "1 204 events; the fullest moment of each 2.5 ms shown".
std::string moments_text(const MemoryTimeline& t);

}  // namespace snapdiff::render
