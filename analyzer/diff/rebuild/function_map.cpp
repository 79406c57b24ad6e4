#include "analyzer/diff/rebuild/function_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "analyzer/diff/rebuild/owners.hpp"
#include "snapdiff/hash_index.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr double kAccept = 0.6;
constexpr std::size_t kNeighbours = 2;           // callers and callees of a function without a like name
constexpr double kMargin = 0.08;                 // the best counterpart beats the second by this much
constexpr int kRounds = 6;                       // what is found helps to find more
constexpr std::size_t kMost = 3000;              // functions without a name in common, per side: the heaviest
constexpr std::uint32_t kAllocates = kNone - 1;  // in the place of a callee
constexpr std::uint32_t kRoot = kNone - 2;       // in the place of a caller

constexpr int kWholePath = std::numeric_limits<int>::max();  // parts

/// What is taken for the name of a function.
struct Sense {
  std::string_view Function::*text;
  int file_parts = 0;           ///< of its path, from the end, are part of it
  bool says_something = false;  ///< short names and "(anonymous)" do not count
};

std::string_view last_parts(std::string_view path, int parts) {
  std::size_t at = path.size();
  for (int i = 0; i < parts && at != std::string_view::npos && at > 0; ++i) at = path.find_last_of("/\\", at - 1);
  return at == std::string_view::npos || at == 0 ? path : path.substr(at + 1);
}

void match(FunctionMap& map, std::uint32_t a, std::uint32_t b) {
  map.after[a] = b;
  map.before[b] = a;
}

/// The name in this sense as a hash, or none.
std::optional<Hash128> name_in(const Sense& sense, const Function& f) {
  const std::string_view text = f.*sense.text;
  if (sense.says_something && (text.size() <= 3 || text == "(anonymous)")) return std::nullopt;
  if (sense.file_parts > 0) return hash_bytes(text, hash_bytes(last_parts(f.file, sense.file_parts)).low);
  return text.empty() ? std::nullopt : std::optional(hash_bytes(text));
}

/// Matches functions that alone on their side have a name in the given sense: those with a name of their own, or the
/// `anonymous` ones where their owners allow it.
void match_unique(const Code& before, const Code& after, const std::set<std::string_view>& numbered,
                  const BothOwners& owners, bool anonymous, FunctionMap& map, const Sense& sense) {
  struct Bearers {
    Hash128 name;
    std::uint32_t a = kNone, b = kNone;
    bool several = false;
  };
  std::vector<Bearers> all;
  HashIndex index;  // of `all`
  const auto bearers_of = [&](const Hash128& name) -> Bearers& {
    std::uint32_t at = index.find(name.low, [&](std::uint32_t row) { return all[row].name == name; });
    if (at == HashIndex::kAbsent) {
      at = static_cast<std::uint32_t>(all.size());
      index.insert(name.low, at);
      all.push_back({.name = name});
    }
    return all[at];
  };
  const auto add = [&](const Code& code, const Owners& of, const std::vector<std::uint32_t>& mapped,
                       std::uint32_t Bearers::*bearer) {
    for (std::uint32_t f = 0; f < code.functions.size(); ++f) {
      if (of.is_anonymous(f) != anonymous) continue;
      if (mapped[f] != kNone || code.functions[f].name.empty() || numbered.contains(code.functions[f].base)) continue;
      const std::optional<Hash128> name = name_in(sense, code.functions[f]);
      if (!name) continue;
      Bearers& bearers = bearers_of(*name);
      bearers.several = bearers.several || bearers.*bearer != kNone;
      bearers.*bearer = f;
    }
  };
  add(before, owners.before, map.after, &Bearers::a);
  add(after, owners.after, map.before, &Bearers::b);
  for (const Bearers& bearers : all) {
    if (bearers.several || bearers.a == kNone || bearers.b == kNone) continue;
    if (owners.may_be_same(bearers.a, bearers.b, map, true)) match(map, bearers.a, bearers.b);
  }
}

/// Matches functions without a name of their own that are the only ones of their owner.
void match_by_owner(const BothOwners& owners, FunctionMap& map) {
  for (const auto& [a, b] : owners.only_ones(map)) {
    if (map.after[a] == kNone && map.before[b] == kNone) match(map, a, b);
  }
}

/// Names of closures that only a number, or a hash of it, distinguishes from others of the same function: it is their
/// place in it, and another closure's in another build.
std::set<std::string_view> numbered_closures(const Code& before, const Code& after) {
  constexpr std::array<std::string_view, 3> kClosures = {"{{closure}}", "_$u7b$$u7b$closure$u7d$$u7d$", ".func"};
  std::set<std::string_view> out;
  for (const Code* code : {&before, &after}) {
    std::set<std::string_view> seen;
    for (const Function& f : code->functions) {
      const bool closure = std::any_of(kClosures.begin(), kClosures.end(),
                                       [&](std::string_view part) { return f.base.find(part) != std::string::npos; });
      if (closure && !seen.insert(f.base).second) out.insert(f.base);
    }
  }
  return out;
}

void match_by_name(const Code& before, const Code& after, const std::set<std::string_view>& numbered,
                   const BothOwners& owners, FunctionMap& map) {
  const std::array<Sense, 10> senses{{{&Function::plain, kWholePath},
                                      {&Function::plain, 2},
                                      {&Function::plain, 1},
                                      {&Function::plain},
                                      {&Function::base, 1},
                                      {&Function::base},
                                      {&Function::shorter, 1},
                                      {&Function::shorter},
                                      {&Function::last, 1},
                                      {.text = &Function::last, .says_something = true}}};
  for (const Sense& sense : senses) match_unique(before, after, numbered, owners, false, map, sense);
  match_by_owner(owners, map);
  for (const Sense& sense : senses) match_unique(before, after, numbered, owners, true, map, sense);
}

/// Who calls a function and whom it calls, with shares of its bytes; sorted by function.
struct Neighbours {
  std::vector<std::pair<std::uint32_t, double>> callers, callees;
  double bytes = 0;
  std::size_t place = 0;  ///< by first line, among the functions of its file
};

void normalise_shares(std::vector<std::pair<std::uint32_t, double>>& edges) {
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

/// Share that two lists of neighbours have in common; functions that are not mapped yet count half.
double overlap(const std::vector<std::pair<std::uint32_t, double>>& a,
               const std::vector<std::pair<std::uint32_t, double>>& b, const FunctionMap& map) {
  double common = 0, open_a = 0, open_b = 0;
  for (const auto& [function, share] : a) {
    const bool fixed = function == kAllocates || function == kRoot;
    const std::uint32_t there = fixed ? function : map.after[function];
    if (there == kNone) {
      open_a += share;
      continue;
    }
    const auto at =
        std::lower_bound(b.begin(), b.end(), there, [](const auto& x, std::uint32_t y) { return x.first < y; });
    if (at != b.end() && at->first == there) common += std::min(share, at->second);
  }
  for (const auto& [function, share] : b) {
    if (function != kAllocates && function != kRoot && map.before[function] == kNone) open_b += share;
  }
  return common + 0.5 * std::min(open_a, open_b);
}

/// Dice's coefficient of pairs of letters.
double likeness(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return 0;
  if (a == b) return 1;
  std::vector<std::uint16_t> x, y;
  for (std::size_t i = 0; i + 1 < a.size(); ++i)
    x.push_back(
        static_cast<std::uint16_t>(static_cast<unsigned char>(a[i]) << 8U | static_cast<unsigned char>(a[i + 1])));
  for (std::size_t i = 0; i + 1 < b.size(); ++i)
    y.push_back(
        static_cast<std::uint16_t>(static_cast<unsigned char>(b[i]) << 8U | static_cast<unsigned char>(b[i + 1])));
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  std::vector<std::uint16_t> both;
  std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
  return 2.0 * static_cast<double>(both.size()) / static_cast<double>(std::max<std::size_t>(1, x.size() + y.size()));
}

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
        in_b_(neighbours_of(after)) {}

  void match_all() {
    for (int round = 0; round < kRounds; ++round) {
      if (!match_round()) return;
      match_by_owner(owners_, map_);
    }
  }

 private:
  std::vector<std::uint32_t> open(const Code& code, const std::vector<std::uint32_t>& mapped,
                                  const std::vector<Neighbours>& all) const {
    std::vector<std::uint32_t> out;
    for (std::uint32_t f = 0; f < mapped.size(); ++f) {
      if (mapped[f] == kNone && all[f].bytes > 0 && !numbered_.contains(code.functions[f].base)) out.push_back(f);
    }
    std::stable_sort(out.begin(), out.end(),
                     [&](std::uint32_t x, std::uint32_t y) { return all[x].bytes > all[y].bytes; });
    if (out.size() > kMost) out.resize(kMost);
    return out;
  }

  double score(std::uint32_t f, std::uint32_t g) const {
    const Function& one = a_.functions[f];
    const Function& other = b_.functions[g];
    if (!owners_.may_be_same(f, g, map_, false)) return 0;
    const double callers = overlap(in_a_[f].callers, in_b_[g].callers, map_);
    const double callees = overlap(in_a_[f].callees, in_b_[g].callees, map_);
    if (callers + callees < 0.3) return 0;
    const double ratio = std::min(in_a_[f].bytes, in_b_[g].bytes) / std::max(in_a_[f].bytes, in_b_[g].bytes);
    const bool same_file = last_parts(one.file, 1) == last_parts(other.file, 1);
    if (one.name.empty() || other.name.empty()) {
      if (one.name.empty() != other.name.empty()) return 0;
      return 0.4 * callers + 0.35 * callees + 0.1 * ratio + (same_file ? 0.15 : 0);
    }
    const double name = std::max(likeness(one.last, other.last), 0.9 * likeness(one.shorter, other.shorter));
    const double alike = 0.3 * callers + 0.3 * callees + 0.1 * ratio + 0.25 * name + (same_file ? 0.05 : 0);
    if (name >= 0.3) return alike;
    // Another name altogether: only where there is much around it, and all of that the same. A function that came with
    // one caller and one callee may as well be new, and so may one that allocates for one caller.
    const auto around = [](const Neighbours& in) {
      const auto count = [](const auto& edges) {
        return std::count_if(edges.begin(), edges.end(),
                             [](const auto& edge) { return edge.first != kAllocates && edge.first != kRoot; });
      };
      return static_cast<std::size_t>(count(in.callers) + count(in.callees));
    };
    const bool known = std::min(around(in_a_[f]), around(in_b_[g])) >= kNeighbours;
    return known && std::min(callers, callees) >= 0.7 ? alike : 0;
  }

  /// Only functions with a neighbour in common, or a likely name, are compared.
  std::vector<std::uint32_t> candidates(std::uint32_t f, const std::vector<std::uint32_t>& open_b) const {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t g : open_b) {
      if (open_b.size() > 400 && last_parts(a_.functions[f].file, 1) != last_parts(b_.functions[g].file, 1) &&
          a_.functions[f].last != b_.functions[g].last)
        continue;
      out.push_back(g);
    }
    return out;
  }

  bool match_round() {
    const std::vector<std::uint32_t> open_a = open(a_, map_.after, in_a_);
    const std::vector<std::uint32_t> open_b = open(b_, map_.before, in_b_);
    if (open_a.empty() || open_b.empty()) return false;
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
    std::map<std::uint32_t, Best> of_a, of_b;
    for (const std::uint32_t f : open_a) {
      for (const std::uint32_t g : candidates(f, open_b)) {
        const double s = score(f, g);
        if (s <= 0) continue;
        of_a[f].offer(g, s);
        of_b[g].offer(f, s);
      }
    }
    bool any = false;
    for (const auto& [f, best] : of_a) {
      if (!best.clear()) continue;
      const Best& back = of_b[best.other];
      if (back.other != f || !back.clear()) continue;
      match(map_, f, best.other);
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
};

bool all_mapped(const std::vector<std::uint32_t>& mapped) {
  return std::find(mapped.begin(), mapped.end(), kNone) == mapped.end();
}

}  // namespace

FunctionMap map_functions(const Code& before, const Code& after) {
  FunctionMap map;
  map.after.assign(before.functions.size(), kNone);
  map.before.assign(after.functions.size(), kNone);
  const std::set<std::string_view> numbered = numbered_closures(before, after);
  const BothOwners owners{Owners(before), Owners(after)};
  match_by_name(before, after, numbered, owners, map);
  if (!all_mapped(map.after) && !all_mapped(map.before)) Structure(before, after, numbered, owners, map).match_all();
  return map;
}

}  // namespace snapdiff::diff::rebuild
