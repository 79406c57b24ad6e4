#include "analyzer/diff/rebuild/functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/base/function_name.hpp"
#include "analyzer/diff/rebuild/score.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr std::uint32_t kAllocates = kNone - 1;  // in the place of a callee
constexpr std::uint32_t kRoot = kNone - 2;       // in the place of a caller
constexpr std::size_t kMostLetters = 64;         // of a name: bounds time and memory

/// The part of a function that counts as its name.
struct Sense {
  bool is_whole;   ///< as recorded; else the last part
  bool with_file;  ///< its path is part of it
};

/// Matches functions that alone on their side have a name in the given sense.
void match_unique(const Code& before, const Code& after, const Sense& sense, FunctionMap& map) {
  struct Bearers {
    std::array<std::uint32_t, 2> function{kNone, kNone};
    bool several = false;
  };
  std::unordered_map<Hash128, Bearers> all;
  const auto add = [&](const Code& code, const std::vector<std::uint32_t>& mapped, std::size_t side) {
    for (std::uint32_t f = 0; f < code.functions.size(); ++f) {
      const Function& function = code.functions[f];
      if (mapped[f] != kNone || function.name.empty() || (!sense.is_whole && function.is_numbered)) continue;
      const std::uint64_t of_file = sense.with_file ? hash_bytes(function.file).low : 0;
      const Hash128 name =
          hash_bytes(sense.is_whole ? function.plain : std::string_view(last_of(function.name)), of_file);
      Bearers& bearers = all[name];
      bearers.several = bearers.several || bearers.function[side] != kNone;
      bearers.function[side] = f;
    }
  };
  add(before, map.after, 0);
  add(after, map.before, 1);
  for (const auto& [name, bearers] : all) {
    const auto [a, b] = bearers.function;
    if (!bearers.several && a != kNone && b != kNone) map.match(a, b);
  }
}

using Shares = std::vector<std::pair<std::uint32_t, double>>;

/// Who calls a function and whom it calls, with shares of its bytes; by function.
struct Neighbours {
  Shares callers, callees;
  double bytes = 0;
};

std::vector<Neighbours> neighbours_of(const Code& code) {
  struct Edge {
    std::uint64_t ends = 0;
    double weight = 0;
  };
  std::vector<Neighbours> out(code.functions.size());
  std::vector<Edge> edges, recent(1U << 12U);  // most edges repeat one of the last thousands
  std::vector<FrameId> scratch;
  const auto add = [&](std::uint32_t caller, std::uint32_t callee, double weight) {
    const std::uint64_t ends = std::uint64_t{caller} << 32U | callee;
    Edge& last = recent[mix64(ends) % recent.size()];
    if (last.ends != ends) edges.push_back(std::exchange(last, {ends, 0}));
    last.weight += weight;
  };
  for (std::size_t entry = 0; entry < code.side().stack.size(); ++entry) {
    const double weight = std::abs(static_cast<double>(code.side().value[entry])) + 1;
    std::uint32_t callee = kAllocates;
    for (const FrameId frame : code.frames(entry, scratch)) {
      const std::uint32_t own = code.function[index_of(frame)];
      add(own, callee, weight);
      out[own].bytes += weight;
      callee = own;
    }
    if (callee != kAllocates) add(kRoot, callee, weight);
  }
  edges.insert(edges.end(), recent.begin(), recent.end());
  std::sort(edges.begin(), edges.end(), [](const Edge& x, const Edge& y) { return x.ends < y.ends; });
  const auto put = [](Shares& shares, std::uint32_t function, double weight) {
    if (shares.empty() || shares.back().first != function) shares.emplace_back(function, 0);
    shares.back().second += weight;
  };
  for (const auto& [ends, weight] : edges) {
    const auto caller = static_cast<std::uint32_t>(ends >> 32U), callee = static_cast<std::uint32_t>(ends);
    if (weight == 0) continue;  // an unused slot of `recent`
    if (caller != kRoot) put(out[caller].callees, callee, weight);
    if (callee != kAllocates) put(out[callee].callers, caller, weight);
  }
  for (Neighbours& one : out) {
    for (Shares* shares : {&one.callers, &one.callees}) {
      double sum = 0;
      for (const auto& [function, bytes] : *shares) sum += bytes;
      for (auto& [function, bytes] : *shares) bytes /= sum;
    }
  }
  return out;
}

/// The callers or callees of a function that have a counterpart, as functions of the second side; ascending.
struct Known {
  Shares shares;
  double open = 0;  ///< share of the others

  Known(const Shares& edges, const std::vector<std::uint32_t>& numbers) {
    for (const auto& [function, share] : edges) {
      const std::uint32_t number = function >= kRoot ? function : numbers[function];
      if (number == kNone)
        open += share;
      else
        shares.emplace_back(number, share);
    }
    std::sort(shares.begin(), shares.end());
  }
  /// The share that both have in common. Functions without a counterpart yet count half.
  double in_common(const Known& other) const {
    double common = 0.5 * std::min(open, other.open);
    for (auto i = shares.begin(), j = other.shares.begin(); i != shares.end() && j != other.shares.end();) {
      if (i->first == j->first) common += std::min(i->second, j->second);
      const bool forward = i->first <= j->first;
      if (j->first <= i->first) ++j;
      if (forward) ++i;
    }
    return common;
  }
};

/// A function without a counterpart.
struct Open {
  std::uint32_t function;
  Known callers, callees;
  std::uint64_t file;               ///< hash of its name
  std::vector<std::uint64_t> keys;  ///< of what two functions have in common that are compared
};

/// Each two neighbouring letters of the last part of each name.
std::vector<std::vector<std::uint16_t>> letters_of(const Code& code, const std::vector<std::uint32_t>& mapped) {
  std::vector<std::vector<std::uint16_t>> out(code.functions.size());
  for (std::size_t f = 0; f < out.size(); ++f) {
    if (mapped[f] != kNone) continue;
    const std::string name = last_of(code.functions[f].name).substr(0, kMostLetters);
    for (std::size_t i = 0; i + 1 < name.size(); ++i)
      out[f].push_back(static_cast<std::uint16_t>(static_cast<unsigned char>(name[i]) << 8U |
                                                  static_cast<unsigned char>(name[i + 1])));
    std::sort(out[f].begin(), out[f].end());
  }
  return out;
}

/// Dice's coefficient.
double likeness(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b) {
  std::size_t both = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    both += *i == *j ? 1U : 0U;
    const bool forward = *i <= *j;
    if (*j <= *i) ++j;
    if (forward) ++i;
  }
  return 2.0 * static_cast<double>(both) / static_cast<double>(std::max<std::size_t>(1, a.size() + b.size()));
}

class Structure {
 public:
  Structure(const Code& before, const Code& after, FunctionMap& map)
      : a_(before),
        b_(after),
        map_(map),
        in_a_(neighbours_of(before)),
        in_b_(neighbours_of(after)),
        letters_a_(letters_of(before, map.after)),
        letters_b_(letters_of(after, map.before)) {}

  /// Compares those that have a caller, a callee, a file or a name in common, and the heaviest of all.
  bool match_round() {
    const std::vector<Open> open_a = open(a_, map_.after, in_a_), open_b = open(b_, map_.itself, in_b_);
    std::unordered_map<std::uint64_t, std::array<std::vector<std::uint32_t>, 2>> having;
    for (const std::vector<Open>* side : {&open_a, &open_b}) {
      for (std::uint32_t i = 0; i < side->size(); ++i) {
        for (const std::uint64_t key : (*side)[i].keys) {
          std::vector<std::uint32_t>& of_key = having[key][side == &open_b ? 1 : 0];
          if (of_key.size() < kMostCompared) of_key.push_back(i);
        }
      }
    }
    std::vector<Best> of_a(open_a.size()), of_b(open_b.size());
    std::vector<std::uint32_t> compared(open_b.size(), kNone);  // with which one last
    for (std::uint32_t i = 0; i < of_a.size(); ++i) {
      for (const std::uint64_t key : open_a[i].keys) {
        const auto& [here, there] = having[key];
        if (here.back() < i) continue;  // this function is not among the heaviest of the key
        for (const std::uint32_t j : there) {
          if (std::exchange(compared[j], i) == i) continue;
          const double s = score(open_a[i], open_b[j]);
          of_a[i].offer(j, j, s);
          of_b[j].offer(i, i, s);
        }
      }
    }
    bool any = false;
    for (std::uint32_t i = 0; i < of_a.size(); ++i) {
      if (!of_a[i].is_clear(kClearlyBest)) continue;
      const Best& back = of_b[of_a[i].other];
      if (back.other != i || !back.is_clear(kClearlyBest)) continue;
      map_.match(open_a[i].function, open_b[of_a[i].other].function);
      any = true;
    }
    return any;
  }

 private:
  /// Functions without counterpart, the heaviest first. The line that calls a numbered closure says which one it is.
  static std::vector<Open> open(const Code& code, const std::vector<std::uint32_t>& numbers,
                                const std::vector<Neighbours>& all) {
    std::vector<std::uint32_t> functions;
    for (std::uint32_t f = 0; f < numbers.size(); ++f) {
      if (numbers[f] == kNone && all[f].bytes > 0 && !code.functions[f].is_numbered) functions.push_back(f);
    }
    std::sort(functions.begin(), functions.end(), [&](std::uint32_t x, std::uint32_t y) {
      const Function &f = code.functions[x], &g = code.functions[y];
      return std::tie(all[y].bytes, f.name, f.file, x) < std::tie(all[x].bytes, g.name, g.file, y);
    });
    std::vector<Open> out;
    for (const std::uint32_t f : functions) {
      const std::uint64_t file = hash_bytes(base_name(code.functions[f].file)).low;
      Open& one = out.emplace_back(
          Open{f, Known(all[f].callers, numbers), Known(all[f].callees, numbers), file, {0, mix64(file + 1)}});
      one.keys.push_back(hash_bytes(last_of(code.functions[f].name), 1).low);
      for (const auto& [caller, share] : one.callers.shares) one.keys.push_back(mix64(caller + 2ULL));
      for (const auto& [callee, share] : one.callees.shares) one.keys.push_back(mix64(~std::uint64_t{callee}));
    }
    return out;
  }

  /// How alike two functions are, 0 to 1; 0 for less than matters beside kAlike.
  double score(const Open& of_a, const Open& of_b) const {
    const std::uint32_t f = of_a.function, g = of_b.function;
    const double callers = of_a.callers.in_common(of_b.callers), callees = of_a.callees.in_common(of_b.callees);
    const bool nameless = a_.functions[f].name.empty();
    if (nameless != b_.functions[g].name.empty()) return 0;
    const double ratio = std::min(in_a_[f].bytes, in_b_[g].bytes) / std::max(in_a_[f].bytes, in_b_[g].bytes);
    const double same_file = of_a.file == of_b.file ? 1 : 0;
    if (nameless) return 0.4 * callers + 0.35 * callees + 0.1 * ratio + 0.15 * same_file;
    const double rest = 0.3 * callers + 0.3 * callees + 0.1 * ratio + 0.05 * same_file;
    return rest + 0.25 < kAlike - kClearlyBest ? 0 : rest + 0.25 * likeness(letters_a_[f], letters_b_[g]);
  }

  const Code& a_;
  const Code& b_;
  FunctionMap& map_;
  std::vector<Neighbours> in_a_, in_b_;
  std::vector<std::vector<std::uint16_t>> letters_a_, letters_b_;
};

}  // namespace

FunctionMap map_functions(const Code& before, const Code& after) {
  FunctionMap map;
  map.after.assign(before.functions.size(), kNone);
  map.before.assign(after.functions.size(), kNone);
  map.itself = map.before;
  for (const Sense& sense : {Sense{true, true}, Sense{true, false}, Sense{false, false}})
    match_unique(before, after, sense, map);
  const auto is_open = [](const std::vector<std::uint32_t>& mapped) {
    return std::find(mapped.begin(), mapped.end(), kNone) != mapped.end();
  };
  if (!is_open(map.after) || !is_open(map.before)) return map;
  Structure structure(before, after, map);
  while (structure.match_round()) {  // each match adds evidence for its neighbours
  }
  return map;
}

}  // namespace snapdiff::diff::rebuild
