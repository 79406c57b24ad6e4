#include "analyzer/html/layers.hpp"

#include <algorithm>

#include "analyzer/html/markup.hpp"

namespace snapdiff::html {
namespace {

constexpr std::size_t kLongestName = 160;

}  // namespace

std::vector<Layer> layers_of(const Postmortem& report) {
  const std::vector<SeriesStep>& steps = report.trend.series.steps;
  if (report.growth().story == nullptr || steps.size() != value_count(report.growth())) return {};
  if (std::any_of(steps.begin(), steps.end(), [](const SeriesStep& step) { return step.total < 0; })) return {};
  const std::vector<Band>& bands = report.growth().story->bands;
  Layer rest{"rest", bands.empty() ? "all stacks" : "all others", "", {}};
  for (const SeriesStep& step : steps) rest.values.push_back(step.total);
  std::vector<Layer> out;
  for (const Band& band : bands) {
    constexpr std::string_view kKinds[] = {"grown", "shrunk", "passing", "role"};
    if (band.values.size() != rest.values.size()) return {};
    for (std::size_t i = 0; i < rest.values.size(); ++i) {
      rest.values[i] = wrapping_difference(rest.values[i], band.values[i]);
      if (rest.values[i] < 0) return {};
    }
    std::string kind(kKinds[static_cast<std::size_t>(band.kind)]);
    if (band.kind == Band::Kind::role) kind += std::to_string(band.index);
    out.push_back({std::move(kind), bounded(plain(band.name), kLongestName), bounded(plain(band.note), kLongestName),
                   band.values});
  }
  out.insert(out.begin(), std::move(rest));
  return out;
}

}  // namespace snapdiff::html
