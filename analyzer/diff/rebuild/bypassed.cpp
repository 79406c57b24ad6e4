#include "analyzer/diff/rebuild/bypassed.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/base/hash_index.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/rebuild/amounts.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr std::size_t kMostBypassRows = 4096;  // the heaviest
constexpr std::size_t kMostOfLines = 32;       // rows of equal lines
constexpr std::size_t kDeepestBypass = 128;    // frames
constexpr std::size_t kLongestBypass = 3;      // frames: what was inlined into a function goes with it
constexpr double kOutvoted = 2;                // as many for it as against it
constexpr std::uint64_t kLineBase = 0x9e3779b97f4a7c15ULL;

/// A row and one of its stacks.
struct OneRow {
  const RowAmounts* row = nullptr;
  const BuildPair::Stack* stack = nullptr;
};

/// Hashes of a stack's lines: of all, and of all but a few.
class LineHashes {
 public:
  explicit LineHashes(const std::vector<std::uint32_t>& classes) : below_{0}, above_(classes.size() + 1, 0), power_{1} {
    for (const std::uint32_t one : classes) {
      below_.push_back(below_.back() + mix64(one + 1ULL) * power_.back());
      power_.push_back(power_.back() * kLineBase);
    }
    for (std::size_t k = classes.size(); k-- > 0;) above_[k] = above_[k + 1] * kLineBase + mix64(classes[k] + 1ULL);
  }
  std::uint64_t all() const { return above_[0]; }
  std::uint64_t without(std::size_t k, std::size_t count) const { return below_[k] + above_[k + count] * power_[k]; }

 private:
  std::vector<std::uint64_t> below_, above_, power_;
};

/// The line above, the function that is bypassed, the one below or kNone.
using BypassPlace = std::array<std::uint32_t, 3>;

/// Two rows of equal lines but for one, or a few together, that only `longer` has.
struct Bypass {
  const RowAmounts* longer = nullptr;
  const RowAmounts* shorter = nullptr;
  BypassPlace place{};
  Vote vote = Vote::none;  ///< whether stacks of one went on in the other

  bool on_both_sides() const { return longer->on_both_sides() && shorter->on_both_sides(); }
  Exchange amounts() const { return explain(*longer, *shorter); }
};

/// Where `count` frames from `k` on are bypassed.
BypassPlace bypass_place(const BuildPair::Stack& stack, std::size_t k, std::size_t count, bool lines_tell) {
  // A jump is one call; where lines say nothing, a callee was inlined with all its calls.
  const std::uint32_t below = !lines_tell ? kNone : k == 0 ? kAllocation : stack.functions[k - 1];
  return {stack.classes[k + count], stack.functions[k], below};
}

/// Of one frame in the place of another one: `return g();` in f is a jump in one build, that of g's callee in the other
/// one. Only of a row that one side alone has, which went on in one that the other side alone has.
void find_replaced(const std::vector<OneRow>& runs, bool lines_tell, std::vector<Bypass>& out) {
  struct Rest {
    const OneRow* run;
    std::size_t k;
  };
  std::unordered_map<std::uint64_t, std::vector<Rest>> by_rest;
  for (const OneRow& run : runs) {
    const std::vector<std::uint32_t>& classes = run.stack->classes;
    if (run.row->on_both_sides() || classes.size() > kDeepestBypass) continue;
    const LineHashes lines(classes);
    for (std::size_t k = 0; k + 1 < classes.size(); ++k) {
      std::vector<Rest>& equal = by_rest[mix64(lines.without(k, 1) + k)];
      for (const Rest& other : equal) {
        const BuildPair::Stack& stack = *other.run->stack;
        if (other.k != k || stack.classes.size() != classes.size()) continue;
        if (stack.functions[k] == run.stack->functions[k]) continue;  // lines that are not each other's
        if (went_on(*run.row, *other.run->row) != Vote::yes) continue;
        for (const OneRow* one : {&run, other.run})
          out.push_back({run.row, other.run->row, bypass_place(*one->stack, k, 1, lines_tell), Vote::yes});
      }
      if (equal.size() < kMostOfLines) equal.push_back({&run, k});
    }
  }
}

std::vector<Bypass> find_bypasses(const std::vector<OneRow>& runs, bool lines_tell) {
  struct OfLines {
    std::uint64_t hash;
    std::vector<const OneRow*> rows;
  };
  std::vector<OfLines> by_lines;
  HashIndex index;  // asked for more often than anything is there
  const auto find = [&](std::uint64_t hash) {
    return index.find(hash, [&](std::uint32_t at) { return by_lines[at].hash == hash; });
  };
  for (const OneRow& run : runs) {
    const std::uint64_t hash = LineHashes(run.stack->classes).all();
    std::uint32_t at = find(hash);
    if (at == HashIndex::kAbsent) {
      at = static_cast<std::uint32_t>(by_lines.size());
      by_lines.push_back({hash, {}});
      index.insert(hash, at);
    }
    if (by_lines[at].rows.size() < kMostOfLines) by_lines[at].rows.push_back(&run);
  }
  std::vector<Bypass> out;
  for (const OneRow& run : runs) {
    const std::vector<std::uint32_t>& classes = run.stack->classes;
    if (classes.size() > kDeepestBypass) continue;
    const LineHashes lines(classes);
    const auto add = [&](std::size_t k, std::size_t count) {
      const std::uint32_t found = find(lines.without(k, count));
      if (found == HashIndex::kAbsent) return;
      for (const OneRow* other : by_lines[found].rows) {
        if (other->row == run.row || other->stack->classes.size() + count != classes.size()) continue;
        const Vote vote = went_on(*run.row, *other->row);
        const bool alone = !run.row->on_both_sides() && !other->row->on_both_sides();
        if (alone && vote != Vote::yes) continue;
        out.push_back({run.row, other->row, bypass_place(*run.stack, k, count, lines_tell), vote});
      }
    };
    for (std::size_t k = 0; k + 1 < classes.size(); ++k) {
      for (std::size_t count = 1; count <= kLongestBypass && k + count < classes.size(); ++count) {
        if (k == 0 || classes[k - 1] != classes[k + count - 1]) add(k, count);
      }
    }
  }
  find_replaced(runs, lines_tell, out);
  return out;
}

/// The heaviest rows.
std::vector<RowAmounts> heaviest_rows(std::vector<RowAmounts> rows) {
  if (rows.size() > kMostBypassRows) {
    std::nth_element(rows.begin(), rows.begin() + kMostBypassRows, rows.end(), heavier);
    rows.resize(kMostBypassRows);
  }
  std::sort(rows.begin(), rows.end(), heavier);
  return rows;
}

}  // namespace

void merge_bypassed(const Comparison& c, std::size_t s, BuildPair& pair, RowUnion& rows) {
  if (c.sides[s].objects.empty() || c.sides[s + 1].objects.empty()) return;
  std::vector<RowAmounts> all = heaviest_rows(amounts_of_rows(c, s, rows));
  for (RowAmounts& row : all) row.of_sites = !pair.lines_tell();
  std::vector<std::uint32_t> place_of_row(c.unit_count(), kNone);  // in `all`
  for (std::uint32_t i = 0; i < all.size(); ++i) place_of_row[all[i].unit] = i;
  const auto stacks_of = [&](bool of_after) {
    const std::vector<std::uint32_t>& unit_of_entry = c.unit_of_entry[s + (of_after ? 1 : 0)];
    std::vector<BuildPair::Left> entries;
    for (std::uint32_t entry = 0; entry < unit_of_entry.size(); ++entry) {
      const std::uint32_t i = place_of_row[rows.find(unit_of_entry[entry])];
      if (i != kNone) entries.push_back({i, entry});
    }
    return pair.stacks_of(entries, of_after);
  };
  std::array<BuildPair::Stacks, 2> in_both;
  for_each_parallel(2, all.size(), [&](std::size_t side) { in_both[side] = stacks_of(side == 1); });
  std::vector<OneRow> runs;
  for (const BuildPair::Stacks& stacks : in_both) {
    for (const BuildPair::Stack& stack : stacks) {
      if (!stack.classes.empty()) runs.push_back({&all[stack.row], &stack});
    }
  }
  const std::vector<Bypass> bypasses = find_bypasses(runs, pair.lines_tell());
  struct Votes {
    double yes = 0, no = 0;
  };
  std::map<BypassPlace, Votes> votes;
  // Whatever is below: its own frame may be missing as well.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Votes> votes_above;
  // What rows do not say alone: a function jumps from another line now, whoever calls it.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Exchange> sums;
  std::set<std::tuple<std::uint32_t, std::uint32_t, const RowAmounts*, const RowAmounts*>> counted;
  for (const Bypass& one : bypasses) {
    for (Votes* of_place : {&votes[one.place], &votes_above[{one.place[0], one.place[1]}]}) {
      of_place->yes += one.vote == Vote::yes ? 1 : 0;
      of_place->no += one.vote == Vote::no ? 1 : 0;
    }
    if (!one.on_both_sides()) continue;
    if (!counted.emplace(one.place[1], one.place[2], one.longer, one.shorter).second) continue;
    sums[{one.place[1], one.place[2]}] += one.amounts();
  }
  for (const Bypass& one : bypasses) {
    const Votes& own = votes[one.place];
    const Votes& of_place = own.yes + own.no > 0 ? own : votes_above[{one.place[0], one.place[1]}];
    const bool together = sums[{one.place[1], one.place[2]}].clear();
    if (one.vote == Vote::no) continue;
    if (!together) {
      if (of_place.yes == 0 || of_place.yes < kOutvoted * of_place.no) continue;
      if (one.on_both_sides() && one.amounts().clearly_stayed()) continue;
    }
    if (rows.find(one.longer->unit) != rows.find(one.shorter->unit))
      rows.join(one.longer->unit, one.shorter->unit, MatchTier::merged);
  }
}

}  // namespace snapdiff::diff::rebuild
