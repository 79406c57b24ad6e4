#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "snapdiff/growth.hpp"
#include "snapdiff/trend.hpp"

/// Numbers about whole processes (SnapshotFacts::counters) over a series: what logs hold, and what
/// heap profiles record beside their stacks. Counters are never added up across names.
namespace snapdiff {

/// One counter, distinguished by name and unit.
///   values     one per snapshot; nothing where it does not record the counter
///   first, last   snapshots of the first and last known value
///   growth     last - first. Cumulative: what was counted in between; where it runs backwards the
///              counter restarted, and that step counted its value itself (resets: how often)
///   half_unit  the largest half of a rounding step among the values
///   forecast   of levels in bytes, where a limit was given
///   verdict    of the known values of levels; word "" for cumulative counters and fewer than three values
struct CounterRow {
  std::string name;
  std::string unit;
  bool cumulative = false;
  std::vector<std::optional<std::int64_t>> values;
  std::size_t first = 0, last = 0;
  std::int64_t growth = 0;
  std::uint64_t resets = 0;
  std::int64_t half_unit = 0;
  Verdict verdict;
  Forecast forecast;

  std::size_t known() const {
    std::size_t count = 0;
    for (const std::optional<std::int64_t>& value : values) count += value ? 1U : 0U;
    return count;
  }
  std::int64_t before() const { return *values[first]; }
  std::int64_t after() const { return *values[last]; }
};

/// rows: levels before cumulative ones, bytes before other units, then by size of growth and by name.
struct CounterReport {
  std::vector<SnapshotRef> snapshots;
  TimeAxis axis;
  std::optional<std::int64_t> limit;
  std::vector<CounterRow> rows;
  Notes notes;
};

}  // namespace snapdiff
