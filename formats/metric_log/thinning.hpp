#pragma once

#include <vector>

#include "formats/text/quantity.hpp"

/// Points of a log, and fewer of them that still say the same.
namespace snapdiff::formats::metric_log {

/// One counter's value; `series` is the Recorder's number of the counter.
struct PointValue {
  std::uint32_t series = 0;
  text::Quantity quantity;
};

struct PointFacts {
  std::optional<std::int64_t> time_ns;
  std::optional<std::int64_t> step;
  std::uint16_t kinds = 0;  ///< a set of Kind
};

/// A counter is in a point at most once.
struct LogPoint {
  PointFacts facts;
  std::vector<PointValue> values;
};

/// Points that are made fewer at a time, and what they become.
inline constexpr std::size_t kThinnedGroup = 8;
inline constexpr std::size_t kThinnedTo = 4;

/// At most kThinnedTo points for at most kThinnedGroup points in their order. Of each counter its first, last,
/// smallest and largest value stay, as they were and in their order (M4: Jugel et al., VLDB 2014, section 4.1);
/// others fill what is left. A point has the time and step of the last of its values.
/// Steps: n log n in the number of values.
std::vector<LogPoint> thinned(const std::vector<LogPoint>& group);

}  // namespace snapdiff::formats::metric_log
