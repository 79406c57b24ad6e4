#include "formats/jfr/counter_points.hpp"

#include <algorithm>
#include <utility>

namespace snapdiff::formats::jfr {

void CounterPoints::add(std::int64_t time_ns, std::optional<std::int64_t> collection, const std::string& name,
                        std::int64_t value) {
  const auto [known, is_new] = rows_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  const std::uint32_t row = known->second;
  std::size_t at = points_.size();
  if (collection) {
    at = of_collection_.try_emplace(static_cast<std::uint64_t>(*collection), at).first->second;
  } else if (!points_.empty() && points_.back().time_ns == time_ns && !points_.back().collection) {
    at = points_.size() - 1;
  }
  const auto has = [&](const CounterPoint& point) {
    return std::any_of(point.values.begin(), point.values.end(), [&](const auto& each) { return each.first == row; });
  };
  // Few counters have one time: more are another writer's, and searching them all would cost the square.
  constexpr std::size_t kMostOfOne = 256;
  if (at < points_.size() && (points_[at].values.size() >= kMostOfOne || has(points_[at]))) at = points_.size();
  if (at == points_.size()) {
    points_.push_back({time_ns, collection, {}});
    if (collection) of_collection_[static_cast<std::uint64_t>(*collection)] = at;
  }
  points_[at].values.emplace_back(row, value);
}

std::vector<CounterPoint> CounterPoints::take(std::size_t most, std::size_t& left_out) {
  std::vector<CounterPoint> points = std::move(points_);
  std::stable_sort(points.begin(), points.end(),
                   [](const CounterPoint& a, const CounterPoint& b) { return a.time_ns < b.time_ns; });
  left_out = 0;
  if (points.size() <= most) return points;
  // Points of one kind have the same first counter: of each kind every n-th stays, and the last one.
  const std::size_t stride = (points.size() + most - 1) / most;
  std::vector<std::size_t> met(names_.size()), last(names_.size());
  for (std::size_t i = 0; i < points.size(); ++i) last[points[i].values.front().first] = i;
  std::vector<CounterPoint> kept;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::uint32_t kind = points[i].values.front().first;
    if (met[kind]++ % stride == 0 || last[kind] == i) kept.push_back(std::move(points[i]));
  }
  left_out = points.size() - kept.size();
  return kept;
}

Counter CounterPoints::counter(const CounterPoint& point, std::size_t value) const {
  const auto& [row, number] = point.values[value];
  std::string name = names_[row];
  if (name == kHeapAfter && point.collection && whole_.contains(static_cast<std::uint64_t>(*point.collection)))
    name = "heap_after_full_gc";
  return {std::move(name), number, "bytes", false, 0};
}

}  // namespace snapdiff::formats::jfr
