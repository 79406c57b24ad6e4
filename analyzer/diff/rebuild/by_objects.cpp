#include "analyzer/diff/rebuild/by_objects.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/rebuild/score.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr double kOneRowLess = 4;    // nats: one stack in 50 is new or gone
constexpr std::size_t kLongest = 3;  // frames that are left out: a function takes its inlined callees with it

/// A row, and the heaviest of its entries on each side.
struct Row {
  std::uint32_t unit = 0;
  std::array<Held, 2> held;
  std::array<std::uint32_t, 2> entry{kNone, kNone};
  double own = 0;  ///< weight of its objects

  bool on_both_sides() const { return held[0].any() && held[1].any(); }
  double bytes() const { return held[0].bytes + held[1].bytes; }
};

/// Whether an entry rather than another one stands for its row, whatever the order of the input.
bool stands_better(const Side& side, std::uint32_t entry, std::uint32_t other) {
  if (other == kNone || side.value[entry] != side.value[other])
    return other == kNone || side.value[entry] > side.value[other];
  return side.recorded_identity(entry) < side.recorded_identity(other);
}

/// The heaviest rows that hold objects, the heaviest first.
std::vector<Row> rows_of(const Comparison& c, const std::array<std::size_t, 2>& sides, const RowUnion& rows,
                         bool of_sites) {
  std::vector<Row> all(c.unit_count());
  for (std::uint32_t u = 0; u < all.size(); ++u) all[u].unit = u;
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
    const Side& side = c.sides[sides[at]];
    for (std::uint32_t entry = 0; entry < side.stack.size(); ++entry) {
      Row& row = all[rows.find(c.unit_of_entry[sides[at]][entry])];
      row.held[at] =
          row.held[at] + Held{static_cast<double>(side.value[entry]), static_cast<double>(side.objects[entry])};
      if (stands_better(side, entry, row.entry[at])) row.entry[at] = entry;
    }
  }
  std::erase_if(all, [](const Row& row) { return !row.held[0].any() && !row.held[1].any(); });
  const auto identities = [&](const Row& row) {
    std::array<Hash128, 2> out;
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
      if (row.entry[at] != kNone) out[at] = c.sides[sides[at]].recorded_identity(row.entry[at]);
    }
    return out;
  };
  const auto heavier = [&](const Row& x, const Row& y) {
    if (x.bytes() != y.bytes()) return x.bytes() > y.bytes();
    return identities(x) < identities(y);
  };
  if (all.size() > kManyStacks) {
    std::nth_element(all.begin(), all.begin() + kManyStacks, all.end(), heavier);
    all.resize(kManyStacks);
  }
  std::sort(all.begin(), all.end(), heavier);
  for (Row& row : all) row.own = weight_of_objects(row.held[0], row.held[1], of_sites);
  return all;
}

/// The stack of a row on one side.
struct OneStack {
  std::uint32_t row;
  const BuildPair::Stack* stack;
  std::uint64_t functions;  ///< hash of its run
};

/// A stack, by its number, with a key that others may have as well.
struct Grouped {
  std::uint64_t key;
  std::uint32_t stack;
  auto operator<=>(const Grouped&) const = default;
};

/// Calls body(the first of them, how many) for the stacks of each key, of these the heaviest.
template <class Body>
void each_key(std::vector<Grouped> all, Body body) {
  std::sort(all.begin(), all.end());
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].key == all[begin].key) ++end;
    body(std::span<const Grouped>(all).subspan(begin, std::min(end - begin, kMostCompared)));
  }
}

/// The key of a stack without some of its lines, each in one step.
class LeftOut {
 public:
  explicit LeftOut(const BuildPair::Stack& stack) {
    for (std::size_t k = 0; k < stack.size(); ++k) {
      front_.push_back(add_to(front_.back(), stack.line(k)));
      power_.push_back(power_.back() * kHashStep);
    }
  }
  std::uint64_t without(std::size_t from, std::size_t count) const {
    const std::size_t behind = front_.size() - 1 - from - count;
    return front_.back() + (front_[from] - front_[from + count]) * power_[behind];
  }

 private:
  std::vector<std::uint64_t> front_{0};  ///< of the first items, by their number
  std::vector<std::uint64_t> power_{1};
};

class ByObjects {
 public:
  ByObjects(const Comparison& c, const std::array<std::size_t, 2>& sides, BuildPair& pair, RowUnion& rows)
      : pair_(pair), rows_(rows), all_(rows_of(c, sides, rows, !pair.lines_tell())) {
    for_each_parallel(2, all_.size(), [&](std::size_t side) { stacks_[side] = stacks_of(side); });
    for (const BuildPair::Stacks& stacks : stacks_) {
      for (const BuildPair::Stack& stack : stacks) {
        if (stack.positions.empty()) continue;
        each_.push_back({stack.row, &stack, 0});
        for (std::size_t k = 0; k < stack.size(); ++k)
          each_.back().functions = add_to(each_.back().functions, stack.function(k));
      }
    }
    std::stable_sort(each_.begin(), each_.end(), [](const OneStack& x, const OneStack& y) { return x.row < y.row; });
  }

  void merge() {
    each_key(keyed([](const OneStack& one) { return one.functions; }),
             [&](std::span<const Grouped> group) { compare_run(group); });
    compare_left_out();
    decide();
    std::vector<Grouped> of_leaf = keyed([](const OneStack& one) { return one.stack->function(0); });
    std::erase_if(of_leaf, [&](const Grouped& one) { return all_[each_[one.stack].row].own > 0; });
    each_key(std::move(of_leaf), [&](std::span<const Grouped> group) { compare_leaf(group); });
  }

 private:
  template <class KeyOf>
  std::vector<Grouped> keyed(KeyOf key_of) const {
    std::vector<Grouped> out;
    for (std::uint32_t i = 0; i < each_.size(); ++i) out.push_back({key_of(each_[i]), i});
    return out;
  }

  /// Two rows that may have been taken for each other, for a reason that others have as well.
  struct Doubt {
    std::uint32_t x, y;
    std::uint64_t reason;
    double gain;
  };

  BuildPair::Stacks stacks_of(std::size_t side) {
    std::vector<BuildPair::Left> entries;
    for (std::uint32_t i = 0; i < all_.size(); ++i) {
      if (all_[i].entry[side] != kNone) entries.push_back({i, all_[i].entry[side]});
    }
    return pair_.stacks_of(entries, side == 1);
  }

  double weight(const Held& before, const Held& after) const {
    return weight_of_objects(before, after, !pair_.lines_tell());
  }

  /// How much the objects of two rows say that they were taken for each other.
  double gain(const Row& x, const Row& y) const {
    const double there = weight(x.held[0], y.held[1]), back = weight(y.held[0], x.held[1]);
    const double alone = !x.on_both_sides() && !y.on_both_sides() ? kOneRowLess : 0;
    const double gain = there + back - x.own - y.own + alone;
    if (x.on_both_sides() == y.on_both_sides())  // an exchange goes both ways
      return std::min(there, back) < 0 ? std::min(gain, kEnough / 2) : gain;
    const double together = weight(x.held[0] + y.held[0], x.held[1] + y.held[1]) - x.own - y.own + kOneRowLess;
    return std::max(gain, together);
  }

  void join(std::uint32_t x, std::uint32_t y) { rows_.join(all_[x].unit, all_[y].unit, MatchTier::merged); }

  void doubt(std::uint32_t x, std::uint32_t y, std::uint64_t reason) {
    if (x == y ||
        (!all_[x].on_both_sides() && !all_[y].on_both_sides() && all_[x].held[0].any() == all_[y].held[0].any()))
      return;
    doubts_.push_back({std::min(x, y), std::max(x, y), reason, gain(all_[x], all_[y])});
  }

  /// Compares stacks of the same functions each with each.
  void compare_run(std::span<const Grouped> group) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t j = i + 1; j < group.size(); ++j) {
        const OneStack &x = each_[group[i].stack], &y = each_[group[j].stack];
        doubt(x.row, y.row, difference(*x.stack, *y.stack));
      }
    }
  }

  /// The lines in which two stacks of the same functions differ; their lines where they differ in none.
  static std::uint64_t difference(const BuildPair::Stack& x, const BuildPair::Stack& y) {
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < std::min(x.size(), y.size()); ++k) {
      const auto [less, more] = std::minmax({x.line(k), y.line(k)});
      if (less != more) sum += mix64(std::uint64_t{less} << 32U | more);
    }
    return sum != 0 ? sum : x.key;
  }

  /// Rows that have the leaf function in common alone.
  void compare_leaf(std::span<const Grouped> group) {
    std::vector<std::uint32_t> both, old, fresh;  // rows
    for (const Grouped& one : group) {
      const std::uint32_t row = each_[one.stack].row;
      if (!all_[row].held[1].any()) old.push_back(row);
      if (!all_[row].held[0].any()) fresh.push_back(row);
      if (all_[row].on_both_sides()) both.push_back(row);
    }
    for (const std::uint32_t x : both) {
      for (const std::uint32_t y : old) {
        for (const std::uint32_t z : fresh) {
          const double there = weight(all_[x].held[0], all_[z].held[1]),
                       back = weight(all_[y].held[0], all_[x].held[1]);
          if (there + back - all_[x].own < kEnough) continue;
          join(x, y);
          join(x, z);
        }
      }
    }
  }

  /// Compares stacks of equal lines but for a few frames together that only one of them has, and those of one side
  /// that have one frame in the place of another one.
  void compare_left_out() {
    std::vector<Grouped> by_lines = keyed([](const OneStack&one) { return one.stack->key; }), by_rest;
    std::sort(by_lines.begin(), by_lines.end());
    std::vector<bool> any(1U << 18U);  // by the upper bits of the keys of by_lines: most keys are of no stack
    for (const Grouped& one : by_lines) any[one.key >> 46U] = true;
    for (std::uint32_t i = 0; i < each_.size(); ++i) {
      const BuildPair::Stack& stack = *each_[i].stack;
      const LeftOut left_out(stack);
      for (std::size_t k = 0; k + 1 < stack.size(); ++k) {
        for (std::size_t count = 1; count <= kLongest && k + count < stack.size(); ++count) {
          const std::uint64_t key = left_out.without(k, count);
          if (!any[key >> 46U]) continue;
          auto other = std::lower_bound(by_lines.begin(), by_lines.end(), Grouped{key, 0});
          for (std::size_t n = 0; n < kMostCompared && other != by_lines.end() && other->key == key; ++n, ++other) {
            if (each_[other->stack].stack->size() + count == stack.size())
              doubt(each_[i].row, each_[other->stack].row, reason(stack, k, count) ^ 1U);
          }
        }
        if (!all_[each_[i].row].on_both_sides()) by_rest.push_back({mix64(left_out.without(k, 1) + k), i});
      }
    }
    each_key(std::move(by_rest), [&](std::span<const Grouped> group) {
      for (const Grouped& one : group) {
        for (const Grouped& other : group.first(static_cast<std::size_t>(&one - group.data()))) {
          const BuildPair::Stack &x = *each_[one.stack].stack, &y = *each_[other.stack].stack;
          std::size_t k = 0;
          while (k + 1 < std::min(x.size(), y.size()) && x.line(k) == y.line(k)) ++k;
          if (x.function(k) != y.function(k)) doubt(each_[one.stack].row, each_[other.stack].row, reason(x, k, 1) ^ 2U);
        }
      }
    });
  }

  /// Why two rows may have been taken for each other: a function, called from a line.
  static std::uint64_t reason(const BuildPair::Stack& stack, std::size_t k, std::size_t count) {
    return mix64(std::uint64_t{stack.line(k + count)} << 32U | stack.function(k));
  }

  /// Rows that say so themselves, and those that do not contradict what all of the same reason say together.
  void decide() {
    std::sort(doubts_.begin(), doubts_.end(), [](const Doubt& a, const Doubt& b) {
      return std::tie(a.reason, a.x, a.y) < std::tie(b.reason, b.x, b.y);
    });
    const auto same = [](const Doubt& a, const Doubt& b) { return a.reason == b.reason && a.x == b.x && a.y == b.y; };
    doubts_.erase(std::unique(doubts_.begin(), doubts_.end(), same), doubts_.end());
    for (std::size_t begin = 0, end = 0; begin < doubts_.size(); begin = end) {
      double sum = 0;
      for (; end < doubts_.size() && doubts_[end].reason == doubts_[begin].reason; ++end) sum += doubts_[end].gain;
      for (std::size_t i = begin; i < end; ++i) {
        if (doubts_[i].gain >= kEnough || (sum >= kEnough && doubts_[i].gain > -kEnough / 2))
          join(doubts_[i].x, doubts_[i].y);
      }
    }
  }

  BuildPair& pair_;
  RowUnion& rows_;
  std::vector<Row> all_;
  std::array<BuildPair::Stacks, 2> stacks_;
  std::vector<OneStack> each_;
  std::vector<Doubt> doubts_;
};

}  // namespace

void merge_by_objects(const Comparison& c, const std::array<std::size_t, 2>& sides, BuildPair& pair, RowUnion& rows) {
  if (c.sides[sides[0]].objects.empty() || c.sides[sides[1]].objects.empty()) return;
  ByObjects(c, sides, pair, rows).merge();
}

}  // namespace snapdiff::diff::rebuild
