#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/snapshot.hpp"

/// The metric that is compared by default: the same for files, stores, SQL, fleets and lists.
namespace snapdiff {

/// The metrics of one snapshot.
///   types  in the order of the file, columns of half units left out
///   named  the default that the file itself names, "" without one
///   lost   a leak check found what the program no longer reaches
struct MetricList {
  std::vector<SampleType> types;
  std::string named;
  bool lost = false;
};

inline constexpr std::string_view kLostSpace = "lost_space";

inline MetricList metric_list(std::span<const Column> columns, std::string_view named) {
  MetricList list{{}, std::string(named), false};
  for (const Column& column : columns) {
    if (!is_metric(column)) continue;
    list.types.push_back(column.type);
    if (column.type.name == kLostSpace)
      list.lost = std::any_of(column.value.begin(), column.value.end(), [](std::int64_t value) { return value != 0; });
  }
  return list;
}

/// As Go, Java agents and perf's converters call it; a count of samples alone is how often a profiler looked.
inline bool measures_cpu_time(const SampleType& type) {
  const bool time = type.unit.ends_with("seconds") || type.unit == "cycles";
  const std::string_view name = type.name;
  return name == "cycles" || name == "samples" || (time && (name == "cpu" || name == "wall" || name == "time"));
}

/// A metric that all snapshots have: what leak checks lost, where any is; inuse_space; else a memory profile's own
/// default, the first that is named; else the only metric in bytes; else, without bytes, a count of objects; else the
/// only metric, unless it measures CPU time.
/// "" where none of these is there: the user must choose.
inline std::string default_metric(std::span<const MetricList> snapshots) {
  if (snapshots.empty()) return {};
  const auto in_all = [&](std::string_view name) {
    return std::all_of(snapshots.begin(), snapshots.end(), [&](const MetricList& one) {
      return std::any_of(one.types.begin(), one.types.end(), [&](const SampleType& type) { return type.name == name; });
    });
  };
  const bool any_lost = std::any_of(snapshots.begin(), snapshots.end(), [](const MetricList& one) { return one.lost; });
  if (any_lost && in_all(kLostSpace)) return std::string(kLostSpace);
  if (in_all("inuse_space")) return "inuse_space";
  std::vector<const SampleType*> common, in_bytes;
  for (const SampleType& type : snapshots.front().types) {
    if (!in_all(type.name)) continue;
    common.push_back(&type);
    if (type.unit == "bytes") in_bytes.push_back(&type);
  }
  // A default counts only in a memory profile: a CPU profile names one too.
  if (!in_bytes.empty()) {
    for (const MetricList& one : snapshots) {
      if (!one.named.empty() && in_all(one.named)) return one.named;
    }
  }
  if (in_bytes.size() == 1) return in_bytes.front()->name;
  if (!in_bytes.empty()) return {};
  for (const std::string_view counts : std::array<std::string_view, 3>{"inuse_objects", "live", "alloc_objects"}) {
    if (in_all(counts)) return std::string(counts);
  }
  return common.size() == 1 && !measures_cpu_time(*common.front()) ? common.front()->name : std::string();
}

}  // namespace snapdiff
