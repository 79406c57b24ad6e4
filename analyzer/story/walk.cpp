#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "analyzer/base/default_metric.hpp"
#include "analyzer/story/story_parts.hpp"

namespace snapdiff::story {
namespace {

constexpr double kGoesOn = 0.9;        // one child with this much of its parent: the walk goes on
constexpr double kChild = 0.08;        // of the whole: a child worth a part of its own
constexpr double kSplits = 0.75;       // such children hold this much together: the parent is split
constexpr double kCarries = 0.9;       // of a part: a function that may name it
constexpr double kSamePurity = 0.005;  // relative: purer by less is not purer
constexpr double kOwnPart = 0.03;      // of a part: what a function allocates itself by less does not make it the name
constexpr double kPureOfMany = 0.2;    // enough for a function that so many callers leak through
constexpr std::size_t kMostParts = 32;

/// Paths whose first `depth` functions are the same.
struct Node {
  std::vector<std::uint32_t> paths;
  std::size_t depth = 0;
  double weight = 0;
};

void append(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& some) {
  to.insert(to.end(), some.begin(), some.end());
}

/// All memory of a report of lost bytes is lost: it does not show who else calls a function.
bool is_lost(const GrowthPaths& paths) { return paths.report().metric == kLostSpace; }

class Walk {
 public:
  Walk(const GrowthPaths& paths, const Weights& weights)
      : paths_(paths),
        weights_(weights),
        through_(paths.function_count(), 0),
        beside_(paths.function_count(), 0),
        grown_(paths.function_count(), 0),
        cover_(paths.function_count(), 0),
        depth_(paths.function_count(), 0) {
    for (std::uint32_t function = 0; function < beside_.size(); ++function)
      beside_[function] = paths.level_through(function);
    for (std::uint32_t p = 0; p < paths.size(); ++p) {
      const double grown = weights.weight[p];
      // A path that mostly grew holds nothing but what has to be explained.
      const bool mostly = grown >= kMostlyGrown * paths[p].peak;
      for (const std::uint32_t function : paths.functions(paths[p])) {
        through_[function] += mostly ? std::max(grown, paths[p].peak) : grown;
        if (!mostly) beside_[function] += std::max(0.0, paths[p].peak - grown);
      }
    }
    if (is_lost(paths)) count_healthy();
  }

  std::vector<Part> run() {
    claimed_.assign(paths_.size(), 0);
    join_many_callers();
    std::vector<std::vector<std::uint32_t>> pieces = split();
    // The function that names a piece takes all of the piece that runs through it.
    for (const std::vector<std::uint32_t>& piece : pieces) {
      if (const double whole = weight(piece); whole > 0) take(best_function(piece, whole), piece);
    }
    join();
    std::erase_if(parts_, [&](const Part& part) { return part.weight < kLeastShare * weights_.all; });
    for (Part& part : parts_) std::sort(part.paths.begin(), part.paths.end());
    std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.paths < b.paths;
    });
    return std::move(parts_);
  }

 private:
  /// Lost bytes say nothing of the healthy ones: stacks are counted instead.
  void count_healthy() {
    std::vector<double> all(beside_.size(), 0), lost(beside_.size(), 0);
    std::vector<std::uint32_t> own;
    const StackView& view = *paths_.report().view;
    for (std::uint32_t stack = 0; stack < view.stack_count(); ++stack) {
      view.own_path({StackId{stack}, 1}, own);
      for (const std::uint32_t function : own) ++all[function];
    }
    for (const GrowthRow& row : paths_.report().rows) {
      if (row.value.baseline == 0 && row.value.current == 0) continue;
      view.own_path(paths_.report().stacks[row.key], own);
      for (const std::uint32_t function : own) ++lost[function];
    }
    for (std::size_t function = 0; function < beside_.size(); ++function) {
      const double healthy = std::max(0.0, all[function] - lost[function]);
      beside_[function] += through_[function] * healthy / std::max(1.0, lost[function]);
    }
  }

  double weight(std::uint32_t path) const { return weights_.weight[path]; }
  double weight(const std::vector<std::uint32_t>& some) const {
    return std::accumulate(some.begin(), some.end(), 0.0, [&](double sum, std::uint32_t p) { return sum + weight(p); });
  }

  /// From the root: pieces that belong together. What is in none of them goes to rest_.
  std::vector<std::vector<std::uint32_t>> split() {
    std::vector<std::vector<std::uint32_t>> pieces;
    std::vector<Node> open(1);
    for (std::uint32_t p = 0; p < paths_.size(); ++p) {
      if (weight(p) <= 0 || claimed_[p] != 0) continue;
      open[0].paths.push_back(p);
      open[0].weight += weight(p);
    }
    bool at_root = true;
    while (!open.empty()) {
      Node node = std::move(open.back());
      open.pop_back();
      std::vector<Node> children;
      std::vector<std::uint32_t> beside;  // passed by on the way down
      std::vector<std::uint32_t> ends = step(node, children, beside, at_root);
      double held = 0;
      std::vector<Node> heavy;
      for (Node& child : children) {
        if (child.weight < kChild * weights_.all) continue;
        held += child.weight;
        heavy.push_back({std::exchange(child.paths, {}), child.depth, child.weight});
      }
      if (!at_root && (heavy.empty() || held < kSplits * node.weight)) {
        pieces.push_back(std::move(node.paths));
        append(pieces.back(), beside);
      } else {
        append(rest_, beside);
        for (const Node& child : children) append(rest_, child.paths);
        append(rest_, ends);
        std::move(heavy.begin(), heavy.end(), std::back_inserter(open));
      }
      at_root = false;
    }
    return pieces;
  }

  /// Moves `node` down while one child carries it on, and gives the children of where it stops, by function. Returns
  /// the paths that end there; those that it passed by go to `beside`.
  std::vector<std::uint32_t> step(Node& node, std::vector<Node>& children, std::vector<std::uint32_t>& beside,
                                  bool at_root) const {
    for (;;) {
      children.clear();
      std::vector<std::uint32_t> ends;
      std::unordered_map<std::uint32_t, std::size_t> child_of;
      for (const std::uint32_t p : node.paths) {
        const auto functions = paths_.functions(paths_[p]);
        if (node.depth == functions.size()) {
          ends.push_back(p);
          continue;
        }
        const auto [at, added] = child_of.try_emplace(functions[node.depth], children.size());
        if (added) children.push_back({{}, node.depth + 1, 0});
        children[at->second].paths.push_back(p);
        children[at->second].weight += weight(p);
      }
      const auto most = std::max_element(children.begin(), children.end(),
                                         [](const Node& a, const Node& b) { return a.weight < b.weight; });
      if (most == children.end() || most->weight < kGoesOn * node.weight || at_root) return ends;
      append(beside, ends);
      node = std::move(*most);  // which leaves it no paths
      for (const Node& child : children) append(beside, child.paths);
    }
  }

  /// Whether `weight` of growth is the function's own, though it comes through these callers: four of them do not each
  /// leak by chance.
  bool leaks_for(std::uint32_t function, double weight,
                 const std::unordered_map<std::uint32_t, double>& callers) const {
    double most = 0;
    for (const auto& [caller, part] : callers) most = std::max(most, part);
    return callers.size() >= kManyCallers && most < weight / 2 && purity(function) >= kPureOfMany;
  }

  /// Growth that one function allocates on behalf of many callers: it is the function's, however it is split over them.
  void join_many_callers() {
    std::vector<std::uint32_t> all;
    for (std::uint32_t p = 0; p < paths_.size(); ++p) {
      if (weight(p) <= 0) continue;
      all.push_back(p);
      for (const std::uint32_t function : paths_.functions(paths_[p])) grown_[function] += weight(p);
    }
    for (const std::uint32_t p : all) {
      const auto functions = paths_.functions(paths_[p]);
      for (std::size_t i = 1; i < functions.size(); ++i) {
        if (grown_[functions[i]] >= kChild * weights_.all) callers_of_[functions[i]][functions[i - 1]] += weight(p);
      }
    }
    std::vector<std::pair<double, std::uint32_t>> joined;
    for (const auto& [function, callers] : callers_of_) {
      if (leaks_for(function, grown_[function], callers)) joined.emplace_back(grown_[function], function);
    }
    std::sort(joined.begin(), joined.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (const auto& [weight_through, function] : joined) {
      std::vector<std::uint32_t> piece;
      for (const std::uint32_t p : all) {
        if (claimed_[p] == 0 && paths_.runs_through(p, function)) piece.push_back(p);
      }
      const double whole = weight(piece);
      if (whole < kChild * weights_.all) continue;
      take(best_function(piece, whole), piece);
      for (const std::uint32_t p : piece) claimed_[p] = 1;
    }
  }

  /// What no part holds yet: the function that most of it runs through, again and again.
  void join() {
    // Where a part holds most of what grows through its function, the rest of that belongs to it.
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].weight >= kSplits * grown_[parts_[i].function]) take(parts_[i].function, std::exchange(rest_, {}));
    }
    while (parts_.size() < kMostParts) {
      if (weight(rest_) < kLeastShare * weights_.all) return;
      double most = 0, covered = 0;
      std::uint32_t heart = 0;
      for_each_function(rest_, [&](std::uint32_t function) {
        const double score = cover_[function] * purity(function) * purity(function);
        if (cover_[function] < kLeastShare * weights_.all) return;
        if (score < most || (score == most && function > heart)) return;
        most = score;
        covered = cover_[function];
        heart = function;
      });
      if (most <= 0) return;
      std::vector<std::uint32_t> piece, left;
      for (const std::uint32_t p : rest_) {
        (paths_.runs_through(p, heart) ? piece : left).push_back(p);
      }
      rest_ = std::move(left);
      take(best_function(piece, covered), piece);
    }
  }

  /// Puts the paths through `function` into its part, all others into rest_.
  void take(std::uint32_t function, const std::vector<std::uint32_t>& from) {
    auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.function == function; });
    if (part == parts_.end()) {
      parts_.push_back({function, {}, 0});
      part = parts_.end() - 1;
    }
    for (const std::uint32_t p : from) {
      if (!paths_.runs_through(p, function)) {
        rest_.push_back(p);
        continue;
      }
      part->paths.push_back(p);
      part->weight += weight(p);
    }
  }

  /// Calls visit(function) for each function on these paths, cover_ holding what runs through it; clears it after.
  template <class Visit>
  void for_each_function(const std::vector<std::uint32_t>& some, Visit visit) {
    std::vector<std::uint32_t> seen;
    for (const std::uint32_t p : some) {
      for (const std::uint32_t function : paths_.functions(paths_[p])) {
        if (cover_[function] == 0 && weight(p) > 0) seen.push_back(function);
        cover_[function] += weight(p);
      }
    }
    for (const std::uint32_t function : seen) visit(function);
    for (const std::uint32_t function : seen) cover_[function] = 0;
  }

  /// What grows through a function of all that ever went through it: 1 where nothing else allocates there.
  double purity(std::uint32_t function) const {
    return through_[function] / std::max(through_[function] + beside_[function], 1.0);
  }

  /// Of the functions that carry most of `whole`: the purest, then the one nearest to the allocation, or its caller
  /// where the caller carries more because it allocates itself, as where it stores what the other one makes.
  std::uint32_t best_function(const std::vector<std::uint32_t>& some, double whole) {
    const auto heaviest = *std::max_element(some.begin(), some.end(),
                                            [&](std::uint32_t a, std::uint32_t b) { return weight(a) < weight(b); });
    struct Candidate {
      std::uint32_t function;
      double purity, cover, depth;
    };
    std::vector<Candidate> candidates;
    std::unordered_map<std::uint32_t, double> itself;  // by function: what it allocates without a further own function
    for (const std::uint32_t p : some) {
      const auto functions = paths_.functions(paths_[p]);
      if (!functions.empty()) itself[functions.back()] += weight(p);
      for (std::size_t i = 0; i < functions.size(); ++i)
        depth_[functions[i]] += weight(p) * static_cast<double>(functions.size() - 1 - i);
    }
    for_each_function(some, [&](std::uint32_t function) {
      const double depth = std::exchange(depth_[function], 0);
      if (cover_[function] < kCarries * whole) return;
      candidates.push_back({function, purity(function), cover_[function], depth / cover_[function]});
    });
    if (candidates.empty()) return paths_.functions(paths_[heaviest]).back();
    double purest = 0;
    for (const Candidate& c : candidates) purest = std::max(purest, c.purity);
    std::erase_if(candidates, [&](const Candidate& c) { return c.purity < (1 - kSamePurity) * purest; });
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return a.depth != b.depth ? a.depth < b.depth : a.function < b.function;
    });
    // Addresses without names in one caller may be of one function.
    const auto has_name = [&](std::uint32_t function) {
      return !paths_.report().view->function(function).function.empty();
    };
    Candidate best = candidates.front();
    for (const Candidate& c : candidates) {
      const double more = c.cover - best.cover;
      if (more >= kOwnPart * whole && (itself[c.function] >= more / 2 || !has_name(best.function))) best = c;
    }
    return caller_of_all(best.function, some);
  }

  /// The caller that brings nearly all growth of a function which others grow through as well; else the function.
  std::uint32_t caller_of_all(std::uint32_t function, const std::vector<std::uint32_t>& some) const {
    const auto found = callers_of_.find(function);
    if (found == callers_of_.end() || found->second.size() < 2) return function;
    double all = 0;
    for (const auto& [caller, part] : found->second) all += part;
    const auto most = std::max_element(found->second.begin(), found->second.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::uint32_t caller = most->first;
    if (most->second < kGoesOn * all) return function;
    if (purity(caller) < (1 - kSamePurity) * purity(function)) return function;
    double through = 0;
    for (const std::uint32_t p : some) through += paths_.runs_through(p, caller) ? weight(p) : 0;
    return through >= kCarries * weight(some) ? caller : function;
  }

  const GrowthPaths& paths_;
  const Weights& weights_;
  std::vector<double> through_;  ///< per function: of paths that have to be explained
  std::vector<double> beside_;   ///< and of all others
  std::vector<double> grown_;    ///< per function: growth that has to be explained
  std::vector<double> cover_;    ///< per function, while for_each_function() visits
  std::vector<double> depth_;    ///< weighed distance to the allocation, while best_function() runs
  std::unordered_map<std::uint32_t, std::unordered_map<std::uint32_t, double>> callers_of_;  ///< of heavy ones: growth
  std::vector<std::uint8_t> claimed_;  ///< per path: in a part already
  std::vector<std::uint32_t> rest_;
  std::vector<Part> parts_;
};

}  // namespace

std::vector<Part> find_parts(const GrowthPaths& paths, const Weights& weights) {
  if (weights.all <= 0) return {};
  return Walk(paths, weights).run();
}

}  // namespace snapdiff::story
