#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "snapdiff/story.hpp"
#include "snapdiff/trend.hpp"

/// Many series, each in one line: which of them leak.
namespace snapdiff {

/// One series.
///   values    total of each snapshot
///   verdict   the gravest one of its culprits; "" without one
///   slope     of the total, a snapshot
///   culprit, place, share   of its first culprit; empty without one
///   forecast  when the total meets the limit, where one was given and the series was judged
///   note      why it was not judged; "" where it was
struct OverviewRow {
  std::string name;
  std::size_t snapshots = 0;
  std::string unit;
  Change total;
  std::vector<std::int64_t> values;
  std::string verdict;
  double slope = 0;
  std::optional<double> per_hour;
  Prose culprit, place;
  std::string share;
  std::optional<Forecast> forecast;
  double step_seconds = 0;
  std::string note;
};

/// The gravest verdict first, then most growth.
struct Overview {
  std::vector<OverviewRow> rows;
  std::optional<std::int64_t> limit;
};

}  // namespace snapdiff
