#include "analyzer/story/explained.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analyzer/story/function_sums.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::story {
namespace {

/// Of what the growing paths of a population gained, its others lost at least this much: it was replaced, not grown.
constexpr double kReplaced = 0.6;
/// And the range of its sum is at most this share of the growth.
constexpr double kLevel = 0.45;
/// So many functions at the end of a path: that which allocates, and wrappers around the allocator.
constexpr std::size_t kPopulationDepth = 3;
/// A function whose paths are judged already is not judged once more for what is left of it.
constexpr double kUnexplained = 0.3;
/// Of what runs through a function, this much has to have grown for all of it to be its leak.
constexpr double kPureInAll = 0.8;

bool climbs(const Verdict& verdict) { return verdict.word == "GROWING" || verdict.word == "RISING"; }

std::vector<Verdict> judge_paths(const GrowthPaths& paths, const SumJudge& judge, std::span<const Verdict> verdicts) {
  std::vector<Verdict> out(paths.size());
  if (!judge.has_series()) return out;
  for (std::size_t p = 0; p < paths.size(); ++p) {
    const auto rows = paths.rows(paths[p]);
    if (paths.are_types()) {
      if (paths[p].growth != 0) out[p] = judge.judge_type(rows);
      continue;
    }
    if (rows.size() == 1 && rows[0] < verdicts.size()) {
      out[p] = verdicts[rows[0]];
      continue;
    }
    double range = 0;
    for (const std::uint32_t row : rows) range += judge.range(row);
    if (range >= judge.floor() && range > 0) out[p] = judge.judge(rows);
  }
  return out;
}

/// Paths that end in the same functions.
struct Population {
  double gained = 0, lost = 0;
  std::vector<std::uint32_t> paths;
};

bool is_replaced(const GrowthPaths& paths, const SumJudge& judge, const Population& population) {
  if (population.lost < kReplaced * population.gained || population.gained <= 0) return false;
  const std::vector<double> sums = judge.values(paths.rows(population.paths));
  const auto [least, most] = std::minmax_element(sums.begin(), sums.end());
  return *most - *least <= kLevel * population.gained;
}

/// Marks paths that climb by what others that end in the same functions lose: the last one, or the last ones where that
/// allocates for others too.
std::vector<std::uint8_t> find_moved(const GrowthPaths& paths, const SumJudge& judge) {
  std::vector<std::uint8_t> moved(paths.size(), 0);
  std::vector<std::uint64_t> end(paths.size(), 0);  // hash of the last functions
  for (std::size_t depth = 0; depth < kPopulationDepth; ++depth) {
    std::unordered_map<std::uint64_t, Population> populations;
    for (std::uint32_t p = 0; p < paths.size(); ++p) {
      const auto functions = paths.functions(paths[p]);
      if (depth + 1 >= functions.size() && depth > 0) continue;  // somebody has to call them
      end[p] = mix64(end[p] ^ functions[functions.size() - 1 - depth]) + 1;
      Population& population = populations[end[p]];
      const auto growth = static_cast<double>(paths[p].growth);
      (growth > 0 ? population.gained : population.lost) += std::abs(growth);
      population.paths.push_back(p);
    }
    for (const auto& [last_functions, population] : populations) {
      if (!is_replaced(paths, judge, population)) continue;
      for (const std::uint32_t p : population.paths) {
        if (paths[p].growth > 0) moved[p] = 1;
      }
    }
  }
  return moved;
}

/// Growth less one standard deviation of it: of many paths that differ by their sampling alone, little is left.
double weight_of(const GrowthPath& path, bool falling) {
  const double growth = falling ? -static_cast<double>(path.growth) : static_cast<double>(path.growth);
  return std::max(0.0, growth - std::sqrt(path.variance));
}

Weights weights_of(const GrowthPaths& paths, const std::vector<std::uint8_t>& chosen, bool falling) {
  Weights out;
  out.weight.assign(paths.size(), 0);
  for (const bool blurred : {true, false}) {
    for (std::size_t p = 0; p < paths.size(); ++p) {
      if (chosen[p] == 0) continue;
      const auto growth = static_cast<double>(paths[p].growth);
      out.weight[p] = blurred ? weight_of(paths[p], falling) : std::max(0.0, falling ? -growth : growth);
      out.all += out.weight[p];
    }
    if (out.all > 0) break;  // else everything is within its error, and the largest is still the largest
  }
  return out;
}

/// Whether so many callers grow through the function, and so little else is there, that the growth is its own.
bool leaks_for_many(const GrowthPaths& paths, const FunctionSum& sum) {
  double grown = 0, most_of_caller = 0, pure = 0, held = paths.level_through(sum.function);
  std::unordered_map<std::uint32_t, double> callers;
  for (const std::uint32_t p : sum.paths) {
    const auto growth = std::max(0.0, static_cast<double>(paths[p].growth));
    held += paths[p].peak;
    pure += growth >= kMostlyGrown * paths[p].peak ? paths[p].peak : growth;
    const auto functions = paths.functions(paths[p]);
    const auto at = std::find(functions.begin(), functions.end(), sum.function);
    if (growth <= 0 || at == functions.begin() || at == functions.end()) continue;
    grown += growth;
    most_of_caller = std::max(most_of_caller, callers[*(at - 1)] += growth);
  }
  return callers.size() >= kManyCallers && most_of_caller < grown / 2 && pure >= kPureInAll * held;
}

/// Whether all of them grow as one, also without the largest: a leak comes in many pieces, a few steps of unlike things
/// do not.
bool grow_together(const GrowthPaths& paths, const SumJudge& judge, const std::vector<std::uint32_t>& pieces) {
  if (judge.judge(paths.rows(pieces)).word != "GROWING") return false;
  if (pieces.size() < 3) return true;
  std::vector<std::uint32_t> most = pieces;
  std::erase(most, *std::max_element(most.begin(), most.end(), [&](std::uint32_t a, std::uint32_t b) {
               return paths[a].growth < paths[b].growth;
             }));
  return climbs(judge.judge(paths.rows(most)));
}

/// Paths of a GROWING function whose own paths do not show it.
void add_function_sums(const GrowthPaths& paths, const SumJudge& judge, const Explained& so_far,
                       std::vector<std::uint8_t>& chosen) {
  for (const FunctionSum& sum : growing_sums(paths, judge)) {
    std::vector<std::uint32_t> pieces, rest;  // all that may be one leak, and what is not explained of it
    double growth = 0, known = 0;
    const bool for_many = leaks_for_many(paths, sum);
    for (const std::uint32_t p : sum.paths) {
      // What levelled off is no piece of a leak, however the sum with others may look.
      if (!for_many && so_far.verdict[p].word == "SATURATING") continue;
      pieces.push_back(p);
      growth += static_cast<double>(paths[p].growth);
      if (chosen[p] != 0) {
        known += static_cast<double>(paths[p].growth);
      } else {
        rest.push_back(p);
      }
    }
    if (growth - known < std::max(judge.floor(), kUnexplained * growth)) continue;
    if (!for_many && (judge.judge(paths.rows(rest)).word != "GROWING" || !grow_together(paths, judge, pieces)))
      continue;
    for (const std::uint32_t p : pieces) chosen[p] = so_far.moved[p] == 0;
  }
}

}  // namespace

Explained explain(const GrowthPaths& paths, const SumJudge& judge, std::span<const Verdict> verdicts) {
  Explained out;
  out.verdict = judge_paths(paths, judge, verdicts);
  out.moved = paths.are_types() ? std::vector<std::uint8_t>(paths.size(), 0) : find_moved(paths, judge);
  std::vector<std::uint8_t> grew(paths.size()), shrank(paths.size()), chosen(paths.size(), 0);
  const StackView& view = *paths.report().view;
  for (std::size_t p = 0; p < paths.size(); ++p) {
    // What stands for many stacks, or for none, is nobody's function.
    const bool pseudo = view.function(paths.functions(paths[p]).back()).pseudo;
    grew[p] = paths[p].growth > 0 && out.moved[p] == 0 && !pseudo;
    shrank[p] = paths[p].growth < 0 && !pseudo;
  }
  if (judge.is_judged()) {
    for (std::size_t p = 0; p < paths.size(); ++p) chosen[p] = grew[p] != 0 && climbs(out.verdict[p]);
    if (!paths.are_types()) add_function_sums(paths, judge, out, chosen);
    out.growing = weights_of(paths, chosen, false);
    out.judged = out.growing.all > 0;
  }
  if (out.judged) {
    for (std::size_t p = 0; p < paths.size(); ++p) grew[p] = grew[p] != 0 && chosen[p] == 0;
    out.levelled = weights_of(paths, grew, false);
  } else {
    out.growing = weights_of(paths, grew, false);
    out.levelled.weight.assign(paths.size(), 0);
  }
  out.freed = weights_of(paths, shrank, true);
  return out;
}

}  // namespace snapdiff::story
