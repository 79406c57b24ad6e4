#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/base/number_text.hpp"
#include "analyzer/story/story_parts.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::story {
namespace {

constexpr std::size_t kRows = 20;       // what a table shows by default
constexpr double kLittle = 0.5;         // of all growth and shrinkage
constexpr std::size_t kFunctions = 50;  // nobody reads more

bool is_spread(const GrowthReport& report) {
  const double all = static_cast<double>(report.grew) - static_cast<double>(report.shrank);
  std::vector<double> changes;
  for (const GrowthRow& row : report.rows) {
    if (row.value.growth() != 0) changes.push_back(std::abs(static_cast<double>(row.value.growth())));
  }
  if (changes.size() <= kRows) return false;
  const auto end = changes.begin() + kRows;
  std::nth_element(changes.begin(), end, changes.end(), std::greater<>());
  return std::accumulate(changes.begin(), end, 0.0) < kLittle * all;
}

struct Sum {
  std::int64_t growth = 0;
  double current = 0;
};

}  // namespace

std::vector<FunctionGrowth> spread_growth(const GrowthPaths& paths) {
  if (paths.are_types() || !is_spread(paths.report())) return {};
  std::vector<Sum> sums(paths.function_count());
  for (const GrowthPath& path : paths.all()) {
    for (const std::uint32_t function : paths.functions(path)) {
      Sum& sum = sums[function];
      if (!checked_add(sum.growth, path.growth, sum.growth)) return {};
      sum.current += path.current;
    }
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t function = 0; function < sums.size(); ++function) {
    if (sums[function].growth > 0) order.push_back(function);
  }
  const std::size_t kept = std::min(order.size(), kFunctions);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      return sums[a].growth != sums[b].growth ? sums[a].growth > sums[b].growth : a < b;
                    });
  order.resize(kept);
  std::vector<FunctionGrowth> out;
  const auto grew = static_cast<double>(paths.report().grew);
  for (const std::uint32_t function : order) {
    const double current = sums[function].current + paths.level_through(function);
    FunctionGrowth found;
    found.function = paths.report().view->function(function);
    found.growth = sums[function].growth;
    found.current = whole_number(current);
    found.share = grew > 0 ? static_cast<double>(found.growth) / grew : 0;
    out.push_back(found);
  }
  return out;
}

}  // namespace snapdiff::story
