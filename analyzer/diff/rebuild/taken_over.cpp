#include "analyzer/diff/rebuild/taken_over.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/rebuild/amounts.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr std::size_t kMostRowsOfRun = 256;  // rows of one run of functions: the heaviest
constexpr std::size_t kDeepestRun = 128;     // frames of a stack that may lack one
constexpr std::size_t kMostRowsOfLeaf = 64;  // the same of one leaf function, of each kind

bool is_of_tier(const Comparison& c, const RowUnion& rows, const RowAmounts& row, MatchTier tier) {
  return !c.coarse_tier.empty() && c.coarse_tier[rows.find(row.unit)] == tier;
}

/// Whether it was joined by what lines or functions have in common: only stacks that are equal are certain.
bool is_joined_by_likeness(const Comparison& c, const RowUnion& rows, const RowAmounts& row) {
  return !c.coarse_tier.empty() && c.coarse_tier[rows.find(row.unit)] != MatchTier::none;
}

bool has_other_objects(const RowAmounts& row) { return std::floor(row.size_before()) != std::floor(row.size_after()); }

/// The rows of one run of functions.
struct Run {
  struct OfBoth {
    const RowAmounts* row;
    bool merged;  ///< before anything is joined here, so that no join depends on which came first
  };
  std::vector<OfBoth> of_both;
  std::vector<const RowAmounts*> one_sided;
};

/// Whether what `x` held before is in `y` now, which only the newer side has: of a row of several stacks, as nothing
/// distinguishes their lines, a part.
bool is_taken_over(const Amounts& x, const Amounts& y, bool merged) {
  return went_on_alone(x, y) || (merged && went_on_in_part(x, y));
}

/// The hash of a run of functions, from 0, function by function.
std::uint64_t add_to_run(std::uint64_t run, std::uint64_t function) { return mix64(run ^ (function + 1)); }

std::uint64_t run_of(const BuildPair::Stack& stack) {
  std::uint64_t hash = 0;
  for (const std::uint32_t function : stack.functions) hash = add_to_run(hash, function);
  return hash;
}

/// The hashes of a run of functions without one of them.
std::vector<std::uint64_t> runs_without_one(const std::vector<std::uint32_t>& functions) {
  std::vector<std::uint64_t> out;
  if (functions.size() < 2 || functions.size() > kDeepestRun) return out;
  for (std::size_t left_out = 0; left_out < functions.size(); ++left_out) {
    std::uint64_t hash = 0;
    for (std::size_t k = 0; k < functions.size(); ++k) hash = k == left_out ? hash : add_to_run(hash, functions[k]);
    out.push_back(hash);
  }
  return out;
}

void join(const RowAmounts& x, const RowAmounts& y, RowUnion& rows) {
  if (rows.find(x.unit) != rows.find(y.unit)) rows.join(x.unit, y.unit, MatchTier::merged);
}

using Runs = std::unordered_map<std::uint64_t, Run>;

/// Rows of several stacks that have lost one, in one direction of time, to a row that the other side alone has, and
/// whose run of functions has one more or one less: a function was split, and what it allocates itself lacks the part
/// that is taken for it; or it was inlined where it was called.
void merge_lost(const Comparison& c, const std::vector<RowAmounts>& all, bool after, const BuildPair::Stacks& stacks,
                const Runs& runs, RowUnion& rows) {
  const auto in_time = [after](const RowAmounts& row) {
    return after ? static_cast<const Amounts&>(row) : row.mirrored();
  };
  std::vector<const BuildPair::Stack*> lost;
  // By the run of a row that lost a stack: only these are asked for, and mostly there are none.
  std::unordered_map<std::uint64_t, std::vector<const RowAmounts*>> with_one_less;
  for (const BuildPair::Stack& stack : stacks) {
    const RowAmounts& row = all[stack.row];
    const Amounts x = in_time(row);
    if (!row.on_both_sides() || x.stacks_before <= x.stacks_after) continue;
    if (!is_of_tier(c, rows, row, MatchTier::merged)) continue;
    lost.push_back(&stack);
    with_one_less.try_emplace(run_of(stack));
  }
  if (lost.empty()) return;
  for (const BuildPair::Stack& stack : stacks) {
    if (all[stack.row].on_both_sides()) continue;
    for (const std::uint64_t run : runs_without_one(stack.functions)) {
      const auto of_run = with_one_less.find(run);
      if (of_run != with_one_less.end() && of_run->second.size() < kMostRowsOfRun)
        of_run->second.push_back(&all[stack.row]);
    }
  }
  for (const BuildPair::Stack* const stack : lost) {
    const RowAmounts& row = all[stack->row];
    const Amounts x = in_time(row);
    const auto take = [&](const std::vector<const RowAmounts*>& others) {
      for (const RowAmounts* other : others) {
        const Amounts y = in_time(*other);
        if (y.objects_before == 0 && (went_on_in_part(x, y) || went_on(x, y) == Vote::yes)) join(row, *other, rows);
      }
    };
    for (const std::uint64_t run : runs_without_one(stack->functions)) {
      if (const auto found = runs.find(run); found != runs.end()) take(found->second.one_sided);
    }
    take(with_one_less.at(run_of(*stack)));
  }
}

/// The stacks that stand for the rows on one side, each with its row's place in `all`.
BuildPair::Stacks stacks_of(const std::vector<RowAmounts>& all, bool after, BuildPair& pair) {
  std::vector<BuildPair::Left> entries;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const std::uint32_t entry = after ? all[i].entry_after : all[i].entry_before;
    if (entry != kNone) entries.push_back({i, entry});
  }
  return pair.stacks_of(entries, after);
}

/// Merges in one direction of time: `after` looks for what was held before in rows that only the newer side has.
/// `stacks`: of the side that is looked at.
void merge(const Comparison& c, const std::vector<RowAmounts>& all, bool after, const BuildPair::Stacks& stacks,
           RowUnion& rows) {
  Runs runs;
  for (const BuildPair::Stack& stack : stacks) {
    if (stack.functions.empty()) continue;
    const RowAmounts& row = all[stack.row];
    Run& run = runs[run_of(stack)];
    if (!row.on_both_sides()) {
      if (run.one_sided.size() < kMostRowsOfRun) run.one_sided.push_back(&row);
    } else if (run.of_both.size() < kMostRowsOfRun) {
      run.of_both.push_back({&row, is_of_tier(c, rows, row, MatchTier::merged)});
    }
  }
  for (const auto& [hash, run] : runs) {
    for (const auto& [row, merged] : run.of_both) {
      for (const RowAmounts* other : run.one_sided) {
        const bool taken =
            after ? is_taken_over(*row, *other, merged) : is_taken_over(row->mirrored(), other->mirrored(), merged);
        if (taken) join(*row, *other, rows);
      }
    }
  }
  merge_lost(c, all, after, stacks, runs, rows);
}

/// A row that was joined, with its stack of each side.
struct Joined {
  const RowAmounts* row = nullptr;
  const BuildPair::Stack* before = nullptr;
  const BuildPair::Stack* after = nullptr;
  bool aligned = false;  ///< only an alignment says so; before anything is joined here
};

/// The rows that were joined.
std::vector<Joined> joined_rows(const Comparison& c, const std::vector<RowAmounts>& all,
                                const std::array<BuildPair::Stacks, 2>& stacks, const RowUnion& rows) {
  std::vector<Joined> of_row(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].on_both_sides() || !is_joined_by_likeness(c, rows, all[i])) continue;
    of_row[i].row = &all[i];
    of_row[i].aligned = is_of_tier(c, rows, all[i], MatchTier::fuzzy);
  }
  for (const bool after : {false, true}) {
    for (const BuildPair::Stack& stack : stacks[after ? 1 : 0]) {
      if (!stack.functions.empty()) (after ? of_row[stack.row].after : of_row[stack.row].before) = &stack;
    }
  }
  std::erase_if(of_row, [](const Joined& one) { return !one.row || !one.before || !one.after; });
  return of_row;
}

/// Stacks of rows that one side alone has, by leaf function.
using OfLeaf = std::unordered_map<std::uint32_t, std::vector<const BuildPair::Stack*>>;

OfLeaf one_sided_by_leaf(const std::vector<RowAmounts>& all, const BuildPair::Stacks& stacks) {
  OfLeaf leaves;
  for (const BuildPair::Stack& stack : stacks) {
    if (stack.functions.empty() || all[stack.row].on_both_sides()) continue;
    std::vector<const BuildPair::Stack*>& of_leaf = leaves[stack.functions.front()];
    if (of_leaf.size() < kMostRowsOfLeaf) of_leaf.push_back(&stack);
  }
  return leaves;
}

/// Whether one of two stacks only has functions more.
bool is_part_of_other(const BuildPair::Stack& x, const BuildPair::Stack& y) {
  const bool shorter = x.functions.size() < y.functions.size();
  const std::vector<std::uint32_t>& less = shorter ? x.functions : y.functions;
  const std::vector<std::uint32_t>& more = shorter ? y.functions : x.functions;
  std::size_t found = 0;
  for (const std::uint32_t function : more) {
    if (found < less.size() && less[found] == function) ++found;
  }
  return found == less.size();
}

/// Rows whose two sides are rather those of two rows of one side alone each. Where an alignment alone joined them, of
/// any; else these have to have functions more or less: one build calls directly what the other one calls by a helper.
void merge_misaligned(const Comparison& c, const std::vector<RowAmounts>& all,
                      const std::array<BuildPair::Stacks, 2>& stacks, RowUnion& rows) {
  const std::array<OfLeaf, 2> leaves{one_sided_by_leaf(all, stacks[0]), one_sided_by_leaf(all, stacks[1])};
  std::unordered_map<std::uint64_t, std::size_t> looked_at;  // by the leaf functions of both sides
  for (const Joined& joined : joined_rows(c, all, stacks, rows)) {
    const std::uint32_t from_function = joined.after->functions.front(), to_function = joined.before->functions.front();
    const auto from_leaf = leaves[0].find(from_function);
    const auto to_leaf = leaves[1].find(to_function);
    if (from_leaf == leaves[0].end() || to_leaf == leaves[1].end()) continue;
    if (++looked_at[std::uint64_t{from_function} << 32U | to_function] > kMostRowsOfLeaf) continue;
    for (const BuildPair::Stack* from : from_leaf->second) {
      if (!joined.aligned && !is_part_of_other(*joined.after, *from)) continue;
      for (const BuildPair::Stack* to : to_leaf->second) {
        if (!went_apart(*joined.row, all[from->row], all[to->row])) continue;
        if (!joined.aligned && !is_part_of_other(*joined.before, *to)) continue;
        for (const BuildPair::Stack* other : {from, to}) join(*joined.row, all[other->row], rows);
      }
    }
  }
}

}  // namespace

void merge_taken_over(const Comparison& c, std::size_t s, BuildPair& pair, RowUnion& rows) {
  if (c.sides[s].objects.empty() || c.sides[s + 1].objects.empty()) return;
  std::vector<RowAmounts> all = amounts_of_rows(c, s, rows);
  std::erase_if(all, [&](const RowAmounts& row) {
    if (!row.on_both_sides() || has_other_objects(row)) return false;
    if (is_of_tier(c, rows, row, MatchTier::merged) || is_of_tier(c, rows, row, MatchTier::fuzzy)) return false;
    return !row.changed() || !is_joined_by_likeness(c, rows, row);  // most lines hold what they held
  });
  const auto one_sided =
      std::count_if(all.begin(), all.end(), [](const RowAmounts& row) { return !row.on_both_sides(); });
  if (one_sided == 0 || static_cast<std::size_t>(one_sided) == all.size()) return;
  std::sort(all.begin(), all.end(), heavier);
  std::array<BuildPair::Stacks, 2> stacks;
  for_each_parallel(2, all.size(), [&](std::size_t side) { stacks[side] = stacks_of(all, side == 1, pair); });
  for (const bool after : {true, false}) merge(c, all, after, stacks[after ? 1 : 0], rows);
  merge_misaligned(c, all, stacks, rows);
}

}  // namespace snapdiff::diff::rebuild
