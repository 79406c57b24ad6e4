#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace snapdiff::render {

/// Series of any kinds on one axis of time, one panel each, first the one given first.
///   points   in the order of the series; `estimated`: its time is no fact
///   metric   what the values are: "inuse_space"; unit "bytes" or another
///   remark   what else the head of the panel says, "" for nothing
/// All pages of one document have the same first_ns and last_ns, so that panels can be laid beside each other.
struct AxisPage {
  struct Point {
    std::int64_t time_ns = 0;
    std::int64_t value = 0;
    bool estimated = false;
  };
  struct Series {
    std::string name;
    std::string metric;
    std::string unit;
    std::string remark;
    std::vector<Point> points;
  };
  std::int64_t first_ns = 0, last_ns = 0;
  std::vector<Series> series;      ///< at most kMostAxisPanels, each with one point at least
  std::size_t all_series = 0;      ///< of the whole document
  std::vector<std::string> notes;  ///< below the panels, one line each: what is not drawn, and why
};

inline constexpr std::size_t kMostAxisPanels = 6;

}  // namespace snapdiff::render
