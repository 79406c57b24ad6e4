#include "analyzer/trend/resample.hpp"

namespace snapdiff::trend {

Resampler::Resampler(const TimeAxis* axis, std::size_t count) {
  if (axis == nullptr || axis->even || axis->seconds.size() != count || count < 3) return;
  const std::vector<double>& at = axis->seconds;
  std::size_t before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double wanted =
        at.front() + (at.back() - at.front()) * static_cast<double>(i) / static_cast<double>(count - 1);
    while (before + 2 < count && at[before + 1] <= wanted) ++before;
    places_.push_back({before, (wanted - at[before]) / (at[before + 1] - at[before])});
  }
  out_.resize(count);
}

std::span<const double> Resampler::at_even_times(std::span<const double> values) const {
  if (places_.empty()) return values;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto [before, share] = places_[i];
    out_[i] = values[before] + (values[before + 1] - values[before]) * share;
  }
  return out_;
}

}  // namespace snapdiff::trend
