#include "analyzer/diff/rebuild/function_structure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/diff/rebuild/letter_pairs.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr double kAccept = 0.6;
constexpr std::size_t kNeighbours = 2;                        // callers and callees of a function without a like name
constexpr double kMargin = 0.08;                              // the best counterpart beats the second by this much
constexpr double kAlikeInNothing = kAccept - kMargin - 0.01;  // a lesser score neither is the best nor comes near it
constexpr int kRounds = 6;                                    // what is found helps to find more
constexpr std::size_t kMost = 3000;              // functions without a name in common, per side: the heaviest
constexpr std::size_t kMostInAllFiles = 400;     // of more, those of one file or of one name alone are compared
constexpr std::uint32_t kAllocates = kNone - 1;  // in the place of a callee
constexpr std::uint32_t kRoot = kNone - 2;       // in the place of a caller

bool is_fixed(std::uint32_t neighbour) { return neighbour == kAllocates || neighbour == kRoot; }

using Shares = std::vector<std::pair<std::uint32_t, double>>;

/// Who calls a function and whom it calls, with shares of its bytes; sorted by function.
struct Neighbours {
  Shares callers, callees;
  double bytes = 0;

  /// How many functions are around it.
  std::size_t around() const {
    const auto count = [](const Shares& edges) {
      return std::count_if(edges.begin(), edges.end(), [](const auto& edge) { return !is_fixed(edge.first); });
    };
    return static_cast<std::size_t>(count(callers) + count(callees));
  }
};

void normalise_shares(Shares& edges) {
  std::sort(edges.begin(), edges.end());
  double sum = 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    sum += edges[i].second;
    if (kept > 0 && edges[kept - 1].first == edges[i].first) {
      edges[kept - 1].second += edges[i].second;
    } else {
      edges[kept++] = edges[i];
    }
  }
  edges.resize(kept);
  for (auto& [function, share] : edges) share = sum > 0 ? share / sum : 0;
}

std::vector<Neighbours> neighbours_of(const Code& code) {
  std::vector<Neighbours> out(code.functions.size());
  std::unordered_map<std::uint64_t, double> edges;
  std::vector<FrameId> scratch;
  const Side& side = code.side();
  for (std::size_t entry = 0; entry < side.stack.size(); ++entry) {
    const double weight = std::abs(static_cast<double>(side.value[entry])) + 1;
    std::uint32_t callee = kAllocates;
    for (const FrameId frame : code.frames(entry, scratch)) {
      const std::uint32_t own = code.function[index_of(frame)];
      edges[static_cast<std::uint64_t>(own) << 32U | callee] += weight;
      out[own].bytes += weight;
      callee = own;
    }
    if (callee != kAllocates) edges[static_cast<std::uint64_t>(kRoot) << 32U | callee] += weight;
  }
  for (const auto& [edge, weight] : edges) {
    const auto caller = static_cast<std::uint32_t>(edge >> 32U);
    const auto callee = static_cast<std::uint32_t>(edge);
    if (caller != kRoot) out[caller].callees.emplace_back(callee, weight);
    if (callee != kAllocates) out[callee].callers.emplace_back(caller, weight);
  }
  for (Neighbours& one : out) {
    normalise_shares(one.callers);
    normalise_shares(one.callees);
  }
  return out;
}

/// The functions of one side that are open in a round, and what does not depend on the other side.
struct Open {
  std::vector<std::uint32_t> functions;  ///< the heaviest first
  std::vector<std::size_t> around;
  std::vector<std::uint32_t> file, last;  ///< numbers of texts, the same on both sides
};

/// Of each open function of the second side what one function of the first side has in common with it: of the functions
/// that call them, or of those that they call. Those without a function in common cost nothing.
class InCommonWith {
 public:
  InCommonWith(const std::vector<Neighbours>& all, Shares Neighbours::*edges, const std::vector<std::uint32_t>& open,
               const std::vector<std::uint32_t>& mapped)
      : unmapped_(open.size(), 0), common_(open.size(), 0) {
    for (std::uint32_t k = 0; k < open.size(); ++k) {
      for (const auto& [function, share] : all[open[k]].*edges) {
        having_[function].emplace_back(k, share);
        if (!is_fixed(function) && mapped[function] == kNone) unmapped_[k] += share;
      }
    }
  }

  void choose(const Shares& edges, const FunctionMap& map) {
    std::fill(common_.begin(), common_.end(), 0);
    chosen_unmapped_ = 0;
    for (const auto& [function, share] : edges) {
      const std::uint32_t there = is_fixed(function) ? function : map.after[function];
      if (there == kNone) {
        chosen_unmapped_ += share;
        continue;
      }
      const auto having = having_.find(there);
      if (having == having_.end()) continue;
      for (const auto& [k, its_share] : having->second) common_[k] += std::min(share, its_share);
    }
  }

  /// The share that both have in common; functions that are not mapped yet count half.
  double share(std::size_t k) const { return common_[k] + 0.5 * std::min(chosen_unmapped_, unmapped_[k]); }

 private:
  std::unordered_map<std::uint32_t, Shares> having_;  ///< per neighbour the open functions that have it
  std::vector<double> unmapped_, common_;             ///< per open function
  double chosen_unmapped_ = 0;
};

struct Best {
  std::uint32_t other = kNone;
  double score = 0, second = 0;

  void offer(std::uint32_t candidate, double s) {
    if (s > score) {
      second = score;
      score = s;
      other = candidate;
    } else {
      second = std::max(second, s);
    }
  }
  bool clear() const { return score >= kAccept && score - second >= kMargin; }
};

class Structure {
 public:
  Structure(const Code& before, const Code& after, const std::set<std::string_view>& numbered, const BothOwners& owners,
            FunctionMap& map)
      : a_(before),
        b_(after),
        numbered_(numbered),
        owners_(owners),
        map_(map),
        in_a_(neighbours_of(before)),
        in_b_(neighbours_of(after)),
        last_(before, after, &Function::last),
        shorter_(before, after, &Function::shorter) {}

  void match_all() {
    for (int round = 0; round < kRounds; ++round) {
      if (!match_round()) return;
      owners_.match_only_ones(map_);
    }
  }

 private:
  Open open(const Code& code, const std::vector<std::uint32_t>& mapped, const std::vector<Neighbours>& all) {
    Open out;
    for (std::uint32_t f = 0; f < mapped.size(); ++f) {
      if (mapped[f] == kNone && all[f].bytes > 0 && !numbered_.contains(code.functions[f].base))
        out.functions.push_back(f);
    }
    std::stable_sort(out.functions.begin(), out.functions.end(),
                     [&](std::uint32_t x, std::uint32_t y) { return all[x].bytes > all[y].bytes; });
    if (out.functions.size() > kMost) out.functions.resize(kMost);
    const auto number = [this](std::string_view text) {
      return numbers_.try_emplace(text, static_cast<std::uint32_t>(numbers_.size())).first->second;
    };
    for (const std::uint32_t f : out.functions) {
      out.around.push_back(all[f].around());
      out.file.push_back(number(end_of_path(code.functions[f].file, 1)));
      out.last.push_back(number(code.functions[f].last));
    }
    return out;
  }

  /// How alike two functions are, 0 to 1; 0 for less than kAlikeInNothing.
  double score(std::uint32_t f, std::uint32_t g, double callers, double callees, bool same_file, bool known) {
    const double ratio = std::min(in_a_[f].bytes, in_b_[g].bytes) / std::max(in_a_[f].bytes, in_b_[g].bytes);
    const bool nameless = a_.functions[f].name.empty();
    if (nameless != b_.functions[g].name.empty()) return 0;
    if (nameless) return 0.4 * callers + 0.35 * callees + 0.1 * ratio + (same_file ? 0.15 : 0);
    const auto alike = [&](double name) {
      return 0.3 * callers + 0.3 * callees + 0.1 * ratio + 0.25 * name + (same_file ? 0.05 : 0);
    };
    if (alike(1) < kAlikeInNothing) return 0;
    const bool same = a_.functions[f].last.size() == a_.functions[f].shorter.size() &&
                      b_.functions[g].last.size() == b_.functions[g].shorter.size();
    const double name = same ? last_.likeness(g) : std::max(last_.likeness(g), 0.9 * shorter_.likeness(g));
    // Another name altogether: only where there is much around it, and all of that the same. A function that came with
    // one caller and one callee may as well be new, and so may one that allocates for one caller.
    return name >= 0.3 || (known && std::min(callers, callees) >= 0.7) ? alike(name) : 0;
  }

  bool match_round() {
    const Open open_a = open(a_, map_.after, in_a_), open_b = open(b_, map_.before, in_b_);
    if (open_a.functions.empty() || open_b.functions.empty()) return false;
    InCommonWith callers(in_b_, &Neighbours::callers, open_b.functions, map_.before);
    InCommonWith callees(in_b_, &Neighbours::callees, open_b.functions, map_.before);
    const bool all_files = open_b.functions.size() <= kMostInAllFiles;
    std::vector<Best> of_a(open_a.functions.size()), of_b(open_b.functions.size());
    for (std::uint32_t i = 0; i < of_a.size(); ++i) {
      const std::uint32_t f = open_a.functions[i];
      callers.choose(in_a_[f].callers, map_);
      callees.choose(in_a_[f].callees, map_);
      last_.choose(f);
      shorter_.choose(f);
      for (std::uint32_t j = 0; j < of_b.size(); ++j) {
        const bool same_file = open_a.file[i] == open_b.file[j];
        if (!all_files && !same_file && open_a.last[i] != open_b.last[j]) continue;
        const double by_callers = callers.share(j), by_callees = callees.share(j);
        const std::uint32_t g = open_b.functions[j];
        if (by_callers + by_callees < 0.3 || !owners_.may_be_same(f, g, map_, false)) continue;
        const bool known = std::min(open_a.around[i], open_b.around[j]) >= kNeighbours;
        const double s = score(f, g, by_callers, by_callees, same_file, known);
        if (s <= 0) continue;
        of_a[i].offer(j, s);
        of_b[j].offer(i, s);
      }
    }
    bool any = false;
    for (std::uint32_t i = 0; i < of_a.size(); ++i) {
      if (!of_a[i].clear()) continue;
      const Best& back = of_b[of_a[i].other];
      if (back.other != i || !back.clear()) continue;
      map_.match(open_a.functions[i], open_b.functions[of_a[i].other]);
      any = true;
    }
    return any;
  }

  const Code& a_;
  const Code& b_;
  const std::set<std::string_view>& numbered_;
  const BothOwners& owners_;
  FunctionMap& map_;
  std::vector<Neighbours> in_a_, in_b_;
  LetterPairs last_, shorter_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;  ///< of texts that are compared
};

}  // namespace

void match_by_structure(const Code& before, const Code& after, const std::set<std::string_view>& numbered,
                        const BothOwners& owners, FunctionMap& map) {
  Structure(before, after, numbered, owners, map).match_all();
}

}  // namespace snapdiff::diff::rebuild
