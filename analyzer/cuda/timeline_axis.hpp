#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "snapdiff/event_log.hpp"

namespace snapdiff::cuda {

/// Where events lie on the axis.
class Axis {
 public:
  Axis(const EventLog& events, std::size_t columns) : events_(events.size()), columns_(columns) {
    EventLog::Reader reader = events.read();
    TraceEvent event;
    bool all_timed = true;
    for (std::uint64_t n = 0; reader.next(event); ++n) {
      all_timed = all_timed && event.time_us != kNoTime;
      if (!all_timed) break;
      if (n == 0) first_us_ = event.time_us;
      last_us_ = std::max(last_us_, event.time_us);
    }
    by_time_ = all_timed && events_ > 1 && last_us_ > first_us_;
  }
  bool by_time() const { return by_time_; }
  std::int64_t span_us() const { return by_time_ ? last_us_ - first_us_ : 0; }
  double at(std::uint64_t number, std::int64_t time_us) const {
    if (by_time_) return at_time(time_us);
    return events_ == 0 ? 0 : static_cast<double>(number + 1) / static_cast<double>(events_);
  }
  double at_time(std::int64_t time_us) const {
    const double at = static_cast<double>(time_us - first_us_) / static_cast<double>(last_us_ - first_us_);
    return std::clamp(at, 0.0, 1.0);
  }
  std::size_t column(double at) const {
    return std::min(static_cast<std::size_t>(at * static_cast<double>(columns_)), columns_ - 1);
  }

 private:
  std::uint64_t events_;
  std::size_t columns_;
  bool by_time_ = false;
  std::int64_t first_us_ = 0;
  std::int64_t last_us_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace snapdiff::cuda
