#include "analyzer/story/function_sums.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "snapdiff/hash.hpp"
#include "snapdiff/parallel.hpp"

namespace snapdiff::story {
namespace {

/// Nobody needs more; a hostile input has no more to give.
constexpr std::size_t kMostSums = 20'000;
/// Of all sums that are made at a time.
constexpr std::size_t kRowsAtOnce = 4'000'000;

std::vector<double> ranges_of(const GrowthPaths& paths, const SumJudge& judge) {
  std::vector<double> range(paths.size(), 0);
  for (std::size_t p = 0; p < paths.size(); ++p) {
    for (const std::uint32_t row : paths.rows(paths[p])) range[p] += judge.range(row);
  }
  return range;
}

/// `range`: of each path, the sum over its rows.
class Collector {
 public:
  Collector(const GrowthPaths& paths, const std::vector<double>& range, double floor)
      : paths_(paths), floor_(floor), range_(range) {}

  /// Everything that ends in the same functions: the leaf first, then with its caller, and so on.
  void by_last_functions() {
    struct Group {
      std::vector<std::uint32_t> paths;
      std::size_t depth;
    };
    std::vector<Group> open(1);
    open[0].depth = 0;
    for (std::uint32_t p = 0; p < paths_.size(); ++p) {
      if (range_[p] > 0) open[0].paths.push_back(p);
    }
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> next;
    while (!open.empty() && sums_.size() < kMostSums) {
      const Group group = std::move(open.back());
      open.pop_back();
      next.clear();
      for (const std::uint32_t p : group.paths) {
        const auto functions = paths_.functions(paths_[p]);
        if (group.depth < functions.size()) next[functions[functions.size() - 1 - group.depth]].push_back(p);
      }
      for (auto& [function, below] : next) {
        if (below.size() < 2 || !is_large(below)) continue;
        add(function, below);
        open.push_back({std::move(below), group.depth + 1});
      }
    }
  }

  void by_function() {
    std::vector<double> range(paths_.function_count(), 0);
    for (std::size_t p = 0; p < paths_.size(); ++p) {
      for (const std::uint32_t function : paths_.functions(paths_[p])) range[function] += range_[p];
    }
    std::vector<std::vector<std::uint32_t>> through(paths_.function_count());
    for (std::uint32_t p = 0; p < paths_.size(); ++p) {
      if (range_[p] <= 0) continue;
      for (const std::uint32_t function : paths_.functions(paths_[p])) {
        if (range[function] >= floor_) through[function].push_back(p);
      }
    }
    for (std::uint32_t function = 0; function < through.size(); ++function) {
      if (through[function].size() > 1 && sums_.size() < kMostSums) add(function, through[function]);
    }
  }

  /// Takes those over that are not there already.
  void append(Collector&& other) {
    for (std::size_t i = 0; i < other.sums_.size() && sums_.size() < kMostSums; ++i) {
      if (known_.insert(other.hash_[i]).second) sums_.push_back(std::move(other.sums_[i]));
    }
  }

  std::vector<FunctionSum> take() { return std::move(sums_); }

 private:
  bool is_large(const std::vector<std::uint32_t>& paths) const {
    double range = 0;
    for (const std::uint32_t p : paths) range += range_[p];
    return range >= floor_;
  }

  /// A set that is there already is not added again.
  void add(std::uint32_t function, const std::vector<std::uint32_t>& paths) {
    std::uint64_t hash = paths.size();
    for (const std::uint32_t p : paths) hash += mix64(p + 1);
    if (!known_.insert(hash).second) return;
    hash_.push_back(hash);
    FunctionSum sum;
    sum.function = function;
    sum.paths = paths;
    for (const std::uint32_t p : paths) sum.current += paths_[p].current;
    sums_.push_back(std::move(sum));
  }

  const GrowthPaths& paths_;
  double floor_;
  const std::vector<double>& range_;
  std::vector<FunctionSum> sums_;
  std::vector<std::uint64_t> hash_;  ///< of each
  std::unordered_set<std::uint64_t> known_;
};

}  // namespace

std::vector<FunctionSum> growing_sums(const GrowthPaths& paths, const SumJudge& judge,
                                      const std::function<bool(const FunctionSum&)>& is_wanted) {
  const std::vector<double> range = ranges_of(paths, judge);
  Collector by_end(paths, range, judge.floor()), by_function(paths, range, judge.floor());
  for_each_parallel(2, paths.size(),
                    [&](std::size_t i) { i == 0 ? by_end.by_last_functions() : by_function.by_function(); });
  by_end.append(std::move(by_function));
  std::vector<FunctionSum> sums = by_end.take();
  std::vector<std::uint8_t> wanted(sums.size());
  for_each_parallel(sums.size(), paths.size(), [&](std::size_t i) { wanted[i] = is_wanted(sums[i]) ? 1 : 0; });
  for (std::size_t i = 0; i < sums.size();) {
    std::vector<std::size_t> chosen;
    std::vector<std::vector<std::uint32_t>> rows;
    for (std::size_t read = 0; i < sums.size() && read < kRowsAtOnce; ++i) {
      if (wanted[i] == 0) continue;
      chosen.push_back(i);
      rows.push_back(paths.rows(sums[i].paths));
      read += rows.back().size();
    }
    std::vector<std::vector<double>> values = judge.values_of(rows);
    for_each_parallel(chosen.size(), chosen.size() * kParallelStacks, [&](std::size_t c) {
      FunctionSum& sum = sums[chosen[c]];
      sum.verdict = judge.judge(rows[c], values[c]);
      if (sum.verdict.word == "GROWING") sum.values = std::move(values[c]);
    });
  }
  std::erase_if(sums, [](const FunctionSum& sum) { return sum.verdict.word != "GROWING"; });
  std::sort(sums.begin(), sums.end(), [](const FunctionSum& a, const FunctionSum& b) {
    if (a.current != b.current) return a.current < b.current;
    return a.paths < b.paths;
  });
  return sums;
}

}  // namespace snapdiff::story
