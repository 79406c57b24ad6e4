#pragma once

#include <memory>
#include <string>
#include <vector>

#include "snapdiff/importer.hpp"

/// The door of formats/metric_log: logs whose lines tell how much memory is in use.
namespace snapdiff::formats {

inline constexpr std::string_view kMetricLogName = "metric-log";

struct MetricLogOptions {
  /// RE2 with the named groups value (required), name, unit, time, iteration (or step); any other named
  /// group is a tag. Where there is one, only what the patterns match is read.
  std::vector<std::string> patterns;
  /// RE2 searched in each metric line: its named groups are tags of the line's counters, a group without
  /// a name is the tag `thread`. "" = none.
  std::string group_by;
  bool decimal_units = false;  ///< KB, MB, GB are powers of 1000 in lines whose tool is not known
};

std::unique_ptr<Importer> make_metric_log_importer();

/// Errors: usage, when an expression is none, or names no value.
Result<std::unique_ptr<Importer>> make_metric_log_importer(const MetricLogOptions& options);

}  // namespace snapdiff::formats
