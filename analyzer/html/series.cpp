#include "analyzer/html/series.hpp"

#include <algorithm>
#include <numeric>

#include "analyzer/base/number_text.hpp"
#include "analyzer/html/markup.hpp"

namespace snapdiff::html {
namespace {

std::uint64_t saturated(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? ~std::uint64_t{0} : sum;
}

constexpr std::size_t kLongestName = 160;

}  // namespace

std::vector<std::uint64_t> importance(const GrowthReport& report) {
  std::vector<std::uint64_t> out(report.rows.size());
  for (std::size_t row = 0; row < out.size(); ++row) {
    const auto [least, most] = range_of(report, row);
    const std::uint64_t range = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
    out[row] = std::max(range, saturated(magnitude(report.rows[row].grew), magnitude(report.rows[row].shrank)));
  }
  return out;
}

Chosen choose(const GrowthReport& report, const std::vector<std::uint64_t>& importance, std::size_t count) {
  Chosen out;
  out.rows.resize(report.rows.size());
  std::iota(out.rows.begin(), out.rows.end(), 0U);
  out.others.assign(value_count(report), 0);
  if (count >= out.rows.size()) return out;
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return importance[a] != importance[b] ? importance[a] > importance[b] : a < b;
  };
  std::nth_element(out.rows.begin(), out.rows.begin() + static_cast<std::ptrdiff_t>(count), out.rows.end(), before);
  for (std::size_t i = count; i < out.rows.size(); ++i) {
    const std::uint32_t row = out.rows[i];
    for_each_value(report, row,
                   [&](std::size_t s, std::int64_t value) { out.others[s] = wrapping_sum(out.others[s], value); });
    out.grew = wrapping_sum(out.grew, report.rows[row].grew);
    out.shrank = wrapping_sum(out.shrank, report.rows[row].shrank);
    out.objects += report.rows[row].objects;
  }
  out.others_count = out.rows.size() - count;
  out.rows.resize(count);
  std::ranges::sort(out.rows);
  return out;
}

std::vector<std::int64_t> remainder(const Postmortem& report) {
  std::vector<std::int64_t> out(value_count(report.growth()), 0);
  for (std::size_t i = 0; i < out.size() && i < report.trend.series.steps.size(); ++i)
    out[i] = report.trend.series.steps[i].total;
  for (std::size_t row = 0; row < report.growth().rows.size(); ++row) {
    for_each_value(report.growth(), row,
                   [&](std::size_t i, std::int64_t value) { out[i] = wrapping_difference(out[i], value); });
  }
  return out;
}

bool needs_big_integers(const Postmortem& report) {
  // Differences double, and their coding does so once more.
  constexpr std::uint64_t kExact = std::uint64_t{1} << 51;
  for (const SeriesStep& step : report.steps) {
    if (magnitude(step.total) >= kExact || magnitude(step.objects.value_or(0)) >= kExact) return true;
  }
  std::uint64_t objects = 0;
  for (const GrowthRow& row : report.growth().rows)
    objects = saturated(objects, std::max(magnitude(row.objects.baseline), magnitude(row.objects.current)));
  if (objects >= kExact) return true;
  std::vector<std::uint64_t> sums(value_count(report.growth()), 0);
  for (std::size_t row = 0; row < report.growth().rows.size(); ++row) {
    for_each_value(report.growth(), row,
                   [&](std::size_t i, std::int64_t value) { sums[i] = saturated(sums[i], magnitude(value)); });
  }
  for (const std::uint64_t sum : sums) {
    if (sum >= kExact) return true;
  }
  return false;
}

std::vector<Layer> layers_of(const Postmortem& report) {
  const std::vector<SeriesStep>& steps = report.trend.series.steps;
  if (report.growth().story == nullptr || steps.size() != value_count(report.growth())) return {};
  if (std::ranges::any_of(steps, [](const SeriesStep& step) { return step.total < 0; })) return {};
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
