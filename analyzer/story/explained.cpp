#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyzer/base/default_metric.hpp"
#include "analyzer/base/object_graph.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/story/story_parts.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::story {
namespace {

/// A function whose paths are judged already is not judged once more for what is left of it.
constexpr double kUnexplained = 0.3;
/// Share of all growth. A RISING path below it does not explain why the heap grew.
constexpr double kHeadline = 0.02;

std::vector<Verdict> judge_paths(const GrowthPaths& paths, const SumJudge& judge, std::span<const Verdict> verdicts) {
  if (!judge.has_series()) return {};
  std::vector<Verdict> out(paths.size());
  std::vector<std::pair<double, std::uint32_t>> wanted;  // range, path
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    const auto rows = paths.rows(paths[p]);
    if (!paths.are_types() && rows.size() == 1 && rows[0] < verdicts.size()) {
      out[p] = verdicts[rows[0]];
      continue;
    }
    double range = 0;
    for (const std::uint32_t row : rows) range += judge.range(row);
    const bool judged = paths.are_types() ? paths[p].growth != 0 : range >= judge.floor() && range > 0;
    if (judged) wanted.emplace_back(range, p);
  }
  trend::keep_widest(wanted, judge.most_judged());
  for_each_parallel(wanted.size(), paths.size(), [&](std::size_t i) {
    const std::uint32_t p = wanted[i].second;
    const auto rows = paths.rows(paths[p]);
    out[p] = paths.are_types() ? judge.judge_type(rows) : judge.judge(rows);
  });
  // Beside what is GROWING, what rises may be a piece of it.
  if (std::none_of(out.begin(), out.end(), [](const Verdict& v) { return v.word == "GROWING"; }))
    trend::allow_for_many(out);
  return out;
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

/// Nobody needs more; a hostile input has no more to give.
constexpr std::size_t kMostSums = 20'000;

/// Paths that may be one leak though none of them looks like one: what one function allocates over several threads,
/// callers, recursion depths, call sites.
struct FunctionSum {
  std::vector<std::uint32_t> paths;  ///< ascending
  double current = 0;                ///< bytes at the end
  std::vector<double> values;        ///< at each snapshot; empty where they are not GROWING
};

/// By function, where they are two paths or more whose range is large together. Equal sets are one.
std::vector<FunctionSum> sums_of(const GrowthPaths& paths, const SumJudge& judge) {
  std::vector<double> range(paths.size(), 0);
  std::vector<std::vector<std::uint32_t>> through(paths.function_count());
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    for (const std::uint32_t row : paths.rows(paths[p])) range[p] += judge.range(row);
    if (range[p] <= 0) continue;
    for (const std::uint32_t function : paths.functions(paths[p])) through[function].push_back(p);
  }
  std::vector<FunctionSum> out;
  std::unordered_set<std::uint64_t> known;  // hashes of their paths
  for (std::vector<std::uint32_t>& some : through) {
    FunctionSum sum;
    std::uint64_t hash = some.size();
    double moved = 0;
    for (const std::uint32_t p : some) {
      moved += range[p];
      sum.current += paths[p].current;
      hash += mix64(p + 1);
    }
    if (some.size() < 2 || moved < judge.floor() || out.size() == kMostSums || !known.insert(hash).second) continue;
    sum.paths = std::move(some);
    out.push_back(std::move(sum));
  }
  return out;
}

/// The paths of a sum that nothing explains yet; none where little is left of its growth.
std::vector<std::uint32_t> unexplained(const GrowthPaths& paths, const FunctionSum& sum, double floor,
                                       const std::vector<std::uint8_t>& chosen) {
  std::vector<std::uint32_t> rest;
  double growth = 0, left = 0;
  for (const std::uint32_t p : sum.paths) {
    growth += static_cast<double>(paths[p].growth);
    if (chosen[p] != 0) continue;
    left += static_cast<double>(paths[p].growth);
    rest.push_back(p);
  }
  if (left < std::max(floor, kUnexplained * growth)) rest.clear();
  return rest;
}

/// Sums that are GROWING as a whole. The most specific one, with the fewest bytes at the end, is first. A sum that
/// the chosen paths explain is not judged: it stays explained, because a chosen path stays chosen.
std::vector<FunctionSum> growing_sums(const GrowthPaths& paths, const SumJudge& judge,
                                      const std::vector<std::uint8_t>& chosen) {
  std::vector<FunctionSum> sums = sums_of(paths, judge);
  for_each_parallel(sums.size(), paths.size(), [&](std::size_t i) {
    if (unexplained(paths, sums[i], judge.floor(), chosen).empty()) return;
    const std::vector<std::uint32_t> rows = paths.rows(sums[i].paths);
    std::vector<double> values = judge.values(rows);
    if (judge.judge(rows, values).word == "GROWING") sums[i].values = std::move(values);
  });
  std::erase_if(sums, [](const FunctionSum& sum) { return sum.values.empty(); });
  std::sort(sums.begin(), sums.end(), [](const FunctionSum& a, const FunctionSum& b) {
    return a.current != b.current ? a.current < b.current : a.paths < b.paths;
  });
  return sums;
}

/// The verdict of some paths of a sum, by what the others leave of it.
Verdict judge_some(const GrowthPaths& paths, const SumJudge& judge, const FunctionSum& sum,
                   const std::vector<std::uint32_t>& some) {
  std::vector<std::uint32_t> others;
  std::set_difference(sum.paths.begin(), sum.paths.end(), some.begin(), some.end(), std::back_inserter(others));
  std::vector<double> values = sum.values;
  const std::vector<double> less = judge.values(paths.rows(others));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= less[i];
  return judge.judge(paths.rows(some), values);
}

/// Whether the sum also rises without its largest path: a leak comes in many pieces, a few steps of unlike things do
/// not.
bool grow_together(const GrowthPaths& paths, const SumJudge& judge, const FunctionSum& sum) {
  if (sum.paths.size() < 3) return true;
  std::vector<std::uint32_t> most = sum.paths;
  most.erase(std::max_element(most.begin(), most.end(),
                              [&](std::uint32_t a, std::uint32_t b) { return paths[a].growth < paths[b].growth; }));
  return trend::climbs(judge_some(paths, judge, sum, most));
}

/// Paths of a GROWING function whose own paths do not show it.
void add_function_sums(const GrowthPaths& paths, const SumJudge& judge, const Explained& so_far,
                       std::vector<std::uint8_t>& chosen) {
  for (const FunctionSum& sum : growing_sums(paths, judge, chosen)) {
    const std::vector<std::uint32_t> rest = unexplained(paths, sum, judge.floor(), chosen);
    if (rest.empty()) continue;
    // All of the sum is GROWING: only what is less has to be judged.
    if (rest.size() < sum.paths.size() && judge_some(paths, judge, sum, rest).word != "GROWING") continue;
    if (!grow_together(paths, judge, sum)) continue;
    for (const std::uint32_t p : sum.paths) chosen[p] = so_far.moved[p] == 0;
  }
}

}  // namespace

Explained explain(GrowthPaths& paths, const SumJudge& judge, std::span<const Verdict> verdicts) {
  Explained out;
  for_each_parallel(2, paths.size(), [&](std::size_t i) {
    if (i == 0) {
      out.verdict = judge_paths(paths, judge, verdicts);
    } else {
      out.moved = paths.are_types() ? std::vector<std::uint8_t>(paths.size(), 0) : find_moved(paths, judge);
    }
  });
  for (std::size_t p = 0; p < paths.size(); ++p) {
    const Verdict& verdict = out.verdict_of(p);
    if (verdict.word == "GROWING" && paths[p].growth <= 0) paths.take_rise(p, verdict.rise);
  }
  std::vector<std::uint8_t> grew(paths.size()), shrank(paths.size()), chosen(paths.size(), 0);
  const StackView& view = *paths.report().view;
  for (std::size_t p = 0; p < paths.size(); ++p) {
    // A pseudo frame stands for many stacks or for none; dead space stands for no object.
    const FrameView last = view.function(paths.functions(paths[p]).back());
    const bool nameless = last.pseudo || last.function == kDeadSpace;
    grew[p] = paths[p].growth > 0 && out.moved[p] == 0 && !nameless;
    shrank[p] = paths[p].growth < 0 && !nameless;
  }
  // Lost bytes cannot be a cache that fills: all of their growth is a leak.
  if (judge.is_judged() && paths.report().metric != kLostSpace) {
    const double least = kHeadline * static_cast<double>(paths.report().grew);
    for (std::size_t p = 0; p < paths.size(); ++p) {
      const Verdict& verdict = out.verdict_of(p);
      const bool small = verdict.word == "RISING" && static_cast<double>(paths[p].growth) < least;
      chosen[p] = grew[p] != 0 && trend::climbs(verdict) && !small;
    }
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
