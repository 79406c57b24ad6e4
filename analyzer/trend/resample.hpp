#pragma once

#include <span>
#include <vector>

#include "snapdiff/trend.hpp"

namespace snapdiff::trend {

/// Values of a series at even times, on the straight lines between its snapshots. The rule judges by
/// shape, and uneven spacing bends every shape.
class Resampler {
 public:
  /// `axis` null, even or without times: values stay as they are. `count` values a series.
  Resampler(const TimeAxis* axis, std::size_t count);

  /// Valid until the next call.
  std::span<const double> at_even_times(std::span<const double> values) const;

 private:
  struct Place {
    std::size_t before;
    double share;  // of the way to the next
  };
  std::vector<Place> places_;
  mutable std::vector<double> out_;
};

}  // namespace snapdiff::trend
