#include "analyzer/diff/suspects.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "analyzer/diff/diff.hpp"
#include "snapdiff/function_name.hpp"

namespace snapdiff::diff {
namespace {

constexpr double kCarries = 0.7;  // algorithms.md section 6: the drop at which the walk stops
constexpr double kHolds = 0.2;    // product.md section 3: what makes a child worth naming
constexpr std::size_t kMostSuspects = 3;
constexpr std::size_t kMostSites = 5;
constexpr double kSignificant = 2;  // standard deviations

/// Functions that every thread of a program runs through; naming one helps nobody.
bool is_entry(std::string_view name) {
  constexpr std::array<std::string_view, 6> kMore = {
      "main.main", "<module>", "(root)", "root", "execute_native_thread_routine", "std::rt::lang_start"};
  return is_entry_point(name) || name == kStackCut || std::find(kMore.begin(), kMore.end(), name) != kMore.end();
}

/// A stack on its way from the root to the leaf.
struct Walker {
  const FrameId* frames;  ///< leaf first
  std::uint32_t at;       ///< index of the frame that the walk stands on; the stack's size: above the root
  std::uint32_t dictionary;
  std::int64_t weight;  ///< > 0: growth in the direction asked for
  std::uint32_t row;    ///< into the rows given
};

/// What the walk knows of one caller path: the frames down to it and the stacks through it.
struct Node {
  std::vector<std::uint32_t> keys;     ///< functions from the root side
  std::vector<VisibleFrames> example;  ///< per function one of its frames here
  std::vector<Walker> walkers;
  double weight = 0;
};

struct Child {
  std::uint32_t key = 0;
  double weight = 0;
  double ends_here = 0;    ///< of it, stacks whose leaf it is
  VisibleFrames heaviest;  ///< its frame here, of the heaviest stack
  std::int64_t heaviest_weight = -1;
  Hash128 heaviest_hash;  ///< of that frame; breaks ties
};

class Walk {
 public:
  Walk(const Comparison& c, const FrameKeys& keys, std::span<const StackGrowth> rows, bool falling)
      : c_(c),
        keys_(keys),
        rows_(rows),
        falling_(falling),
        on_path_(keys.size(), 0),
        child_of_key_(keys.size(), kNone) {}

  /// All stacks that move in the direction asked for, above their roots.
  Node root(std::span<const std::uint8_t> leave_out) const {
    Node node;
    node.walkers.reserve(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::int64_t growth = rows_[i].growth;
      if ((growth < 0) != falling_ || (!leave_out.empty() && leave_out[i] != 0)) continue;
      const std::int64_t weight = growth == std::numeric_limits<std::int64_t>::min()
                                      ? std::numeric_limits<std::int64_t>::max()
                                      : std::abs(growth);
      const VisibleFrames& frames = c_.frames[rows_[i].unit];
      node.walkers.push_back({frames.data, frames.size, frames.dictionary, weight, static_cast<std::uint32_t>(i)});
      node.weight += static_cast<double>(weight);
    }
    return node;
  }

  /// Functions on the path that children() works below.
  void mark(std::span<const std::uint32_t> keys, std::uint8_t on) {
    for (const std::uint32_t key : keys) on_path_[key] = on;
  }

  /// Moves the walkers on to the next functions of their stacks and returns these, heaviest first.
  /// A function that is already on the marked path is passed over, which folds recursion. Stacks that
  /// end are dropped.
  std::vector<Child> children(std::vector<Walker>& walkers) {
    std::vector<Child> out;
    std::size_t kept = 0;
    double whole = 0;
    for (Walker walker : walkers) {
      whole += static_cast<double>(walker.weight);
      std::uint32_t key = kNone;
      while (walker.at > 0) {
        key = keys_.key(walker.dictionary, walker.frames[--walker.at]);
        if (on_path_[key] == 0) break;
        key = kNone;
      }
      if (key == kNone) continue;
      if (child_of_key_[key] == kNone) {
        child_of_key_[key] = static_cast<std::uint32_t>(out.size());
        out.emplace_back().key = key;
      }
      Child& child = out[child_of_key_[key]];
      child.weight += static_cast<double>(walker.weight);
      if (walker.at == 0) child.ends_here += static_cast<double>(walker.weight);
      if (walker.weight > child.heaviest_weight ||
          (walker.weight == child.heaviest_weight && hash_of(walker) < child.heaviest_hash)) {
        child.heaviest_weight = walker.weight;
        child.heaviest_hash = hash_of(walker);
        child.heaviest = {walker.frames + walker.at, 1, walker.dictionary};
      }
      walkers[kept++] = walker;
    }
    walkers.resize(kept);
    for (const Child& child : out) child_of_key_[child.key] = kNone;
    // Only children that can be named or walked into need an order.
    const double floor = whole * kHolds / 2;
    std::sort(out.begin(), out.end(), [&](const Child& a, const Child& b) {
      if (a.weight != b.weight) return a.weight > b.weight;
      if (a.weight < floor) return a.key < b.key;
      const std::string name_a = keys_.text(a.key);
      const std::string name_b = keys_.text(b.key);
      return name_a != name_b ? name_a < name_b : a.key < b.key;
    });
    return out;
  }

  /// One step down: `walkers` as children() has left them.
  void step(Node& node, std::span<const Walker> walkers, const Child& child) const {
    node.keys.push_back(child.key);
    node.example.push_back(child.heaviest);
    node.weight = child.weight;
    node.walkers.clear();
    for (const Walker& walker : walkers) {
      if (keys_.key(walker.dictionary, walker.frames[walker.at]) == child.key) node.walkers.push_back(walker);
    }
  }

  /// A frame in which most stacks end allocates; the walk stops above it.
  static bool is_site(const Child& child) { return child.ends_here >= kCarries * child.weight; }

  /// Down while one child carries 70 % of its parent, or of `whole` when that is given. The path is
  /// marked; what is added to it stays marked.
  void descend(Node& node, double whole) {
    std::vector<Walker> next;
    for (;;) {
      next = node.walkers;
      const std::vector<Child> below = children(next);
      if (below.empty() || below.front().weight < kCarries * (whole > 0 ? whole : node.weight)) return;
      if (is_site(below.front())) return;
      step(node, next, below.front());
      mark(std::span(&node.keys.back(), 1), 1);
    }
  }

  std::span<const StackGrowth> rows() const { return rows_; }
  const FrameKeys& keys() const { return keys_; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  const Hash128& hash_of(const Walker& walker) const {
    return c_.dictionaries[walker.dictionary]->dictionary().frames.hash[index_of(walker.frames[walker.at])];
  }

  const Comparison& c_;
  const FrameKeys& keys_;
  std::span<const StackGrowth> rows_;
  bool falling_;
  std::vector<std::uint8_t> on_path_;
  std::vector<std::uint32_t> child_of_key_;
};

/// Whether the functions of `path` come in this order, folded, at the root of the stack.
bool runs_through(const VisibleFrames& frames, const FrameKeys& keys, const std::vector<std::uint32_t>& path,
                  std::vector<std::uint8_t>& on_path) {
  std::size_t found = 0;
  for (std::size_t at = frames.size; at > 0 && found < path.size();) {
    const std::uint32_t key = keys.key(frames.dictionary, frames.data[--at]);
    if (key == path[found]) {
      on_path[key] = 1;
      ++found;
    } else if (on_path[key] == 0) {
      break;
    }
  }
  for (std::size_t i = 0; i < found; ++i) on_path[path[i]] = 0;
  return found == path.size();
}

bool saturating_add(std::int64_t& sum, std::int64_t value) {
  if (!__builtin_add_overflow(sum, value, &sum)) return true;
  sum = value > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
  return false;
}

/// A node as the report tells it: net growth of all stacks through it, sites, rows. Returns false
/// when the net does not point in the direction asked for or drowns in the sampling error.
bool describe(const Comparison& c, const Walk& walk, const Node& node, bool falling, double whole, bool blurred,
              Suspect& out) {
  struct SiteSum {
    std::int64_t growth = 0;
    std::int64_t objects = 0;
  };
  std::vector<std::vector<SiteSum>> sums;  // per dictionary and leaf frame
  for (const auto& dictionary : c.dictionaries) sums.emplace_back(dictionary->dictionary().frames.size());
  std::vector<std::uint8_t> on_path(walk.keys().size(), 0);
  std::vector<std::uint8_t> below;  // by row of the report
  double variance = 0;
  out = Suspect{};
  for (const StackGrowth& row : walk.rows()) {
    const VisibleFrames& frames = c.frames[row.unit];
    if (!runs_through(frames, walk.keys(), node.keys, on_path)) continue;
    saturating_add(out.growth, row.growth);
    variance += row.variance;
    if (row.row >= below.size()) below.resize(std::max<std::size_t>(row.row + 1, below.size() * 2), 0);
    below[row.row] = 1;
    SiteSum& sum = sums[frames.dictionary][index_of(frames.data[0])];
    saturating_add(sum.growth, row.growth);
    saturating_add(sum.objects, row.objects);
  }
  for (std::uint32_t row = 0; row < below.size(); ++row) {
    if (below[row] != 0) out.rows.push_back(row);
  }
  const double net = static_cast<double>(falling ? -static_cast<double>(out.growth) : static_cast<double>(out.growth));
  if (net <= 0) return false;
  if (blurred && net < kSignificant * std::sqrt(variance)) return false;
  out.share = whole > 0 ? std::min(1.0, net / whole) : 0;
  for (const VisibleFrames& example : node.example) {
    out.path.push_back(frame_view(c.dictionary_of(example), example.data[0]));
  }

  // A leaf frame may be in several dictionaries.
  std::unordered_map<Hash128, std::size_t> site_of;
  std::vector<Suspect::Site> sites;
  for (std::size_t d = 0; d < sums.size(); ++d) {
    const Dictionary& dictionary = c.dictionaries[d]->dictionary();
    for (std::size_t f = 0; f < sums[d].size(); ++f) {
      if (sums[d][f].growth == 0 && sums[d][f].objects == 0) continue;
      const auto [site, added] = site_of.try_emplace(dictionary.frames.hash[f], sites.size());
      if (added) sites.push_back({frame_view(dictionary, FrameId{static_cast<std::uint32_t>(f)}), 0, 0});
      saturating_add(sites[site->second].growth, sums[d][f].growth);
      saturating_add(sites[site->second].objects, sums[d][f].objects);
    }
  }
  std::vector<Suspect::Site> merged;
  for (const Suspect::Site& site : sites) {
    if (site.growth != 0 && (site.growth < 0) == falling) merged.push_back(site);
  }
  std::stable_sort(merged.begin(), merged.end(), [&](const Suspect::Site& a, const Suspect::Site& b) {
    if (a.growth != b.growth) return falling ? a.growth < b.growth : a.growth > b.growth;
    const std::string name_a = function_text(a.frame);
    const std::string name_b = function_text(b.frame);
    if (name_a != name_b) return name_a < name_b;
    return a.frame.file != b.frame.file ? a.frame.file < b.frame.file : a.frame.line < b.frame.line;
  });
  if (merged.size() > kMostSites) merged.resize(kMostSites);
  out.sites = std::move(merged);
  return true;
}

SuspectList search(const Comparison& c, Walk& walk, std::span<const std::uint8_t> leave_out, bool falling, double whole,
                   bool blurred) {
  SuspectList list;
  Node trunk = walk.root(leave_out);
  const double all = trunk.weight;
  if (trunk.walkers.empty() || all <= 0) return list;
  walk.descend(trunk, all);

  std::vector<Walker> below = trunk.walkers;
  const std::vector<Child> children = walk.children(below);
  std::vector<const Child*> named;
  double named_sites = 0;
  double passed_on = 0;
  for (const Child& child : children) {
    passed_on += child.weight;
    if (child.weight < kHolds * all || named.size() == kMostSuspects) continue;
    named.push_back(&child);
    if (Walk::is_site(child)) ++named_sites;
  }
  const bool entry = trunk.keys.empty() || is_entry(walk.keys().text(trunk.keys.back()));
  const bool ends_in_trunk = trunk.weight - passed_on >= kHolds * all;
  const bool only_sites = named_sites == static_cast<double>(named.size());
  std::vector<Node> nodes;
  if (!trunk.keys.empty() && (named.empty() || (!entry && (ends_in_trunk || only_sites)))) {
    nodes.push_back(trunk);
  } else {
    for (const Child* child : named) {
      Node node;
      node.keys = trunk.keys;
      node.example = trunk.example;
      walk.step(node, below, *child);
      const std::size_t own = trunk.keys.size();
      walk.mark(std::span(node.keys).subspan(own), 1);
      walk.descend(node, 0);
      walk.mark(std::span(node.keys).subspan(own), 0);
      nodes.push_back(std::move(node));
    }
  }
  walk.mark(trunk.keys, 0);
  for (const Node& node : nodes) {
    Suspect suspect;
    if (!describe(c, walk, node, falling, whole, blurred, suspect)) continue;
    list.suspects.push_back(std::move(suspect));
    const bool is_trunk = node.keys.size() == trunk.keys.size();
    const std::size_t shared = is_trunk ? trunk.keys.size() - 1 : trunk.keys.size();
    list.common_path = shared > 0 ? short_name(walk.keys().text(trunk.keys[shared - 1])) : std::string();
  }
  std::stable_sort(list.suspects.begin(), list.suspects.end(), [&](const Suspect& a, const Suspect& b) {
    return falling ? a.growth < b.growth : a.growth > b.growth;
  });
  return list;
}

}  // namespace

SuspectList find_suspects(const Comparison& c, std::span<const StackGrowth> rows, std::int64_t grew,
                          std::int64_t shrank, bool blurred) {
  SuspectList list;
  if (rows.empty()) return list;
  const FrameKeys keys(c.dictionaries, GroupBy::function);
  std::vector<std::uint8_t> insignificant;
  if (blurred) {
    insignificant.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      insignificant[i] = std::abs(static_cast<double>(rows[i].growth)) < kSignificant * std::sqrt(rows[i].variance);
    }
  }
  const auto both_ways = [&](bool falling) {
    Walk walk(c, keys, rows, falling);
    const double whole = falling ? -static_cast<double>(shrank) : static_cast<double>(grew);
    SuspectList found = search(c, walk, {}, falling, whole, blurred);
    // Growth that stands out alone may be a small part of all the noise.
    if (found.suspects.empty() && blurred) found = search(c, walk, insignificant, falling, whole, blurred);
    return found;
  };
  list = both_ways(false);
  if (-static_cast<double>(shrank) > static_cast<double>(grew)) {
    SuspectList freed = both_ways(true);
    if (!freed.suspects.empty()) {
      list.suspects.insert(list.suspects.begin(), std::move(freed.suspects.front()));
      if (list.suspects.size() > kMostSuspects) list.suspects.pop_back();
      if (list.suspects.size() == 1 || list.common_path != freed.common_path) list.common_path = freed.common_path;
    }
  }
  return list;
}

}  // namespace snapdiff::diff
